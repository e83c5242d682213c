"""Other systems, by the guides that tell how to connect them."""
