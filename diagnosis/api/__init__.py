"""REST over the knowledge (read) and the pictures of a diagnosis."""
