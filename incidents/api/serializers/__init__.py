"""What goes in and out, one kind of record a file."""
