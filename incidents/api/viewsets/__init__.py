"""The endpoints, one kind of record a file. Thin: they call services and selectors."""
