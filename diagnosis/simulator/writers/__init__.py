"""What each program leaves behind, byte for byte in its own form."""
