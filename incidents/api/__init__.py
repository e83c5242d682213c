"""REST `/api/v1/`: thin viewsets over services and selectors."""
