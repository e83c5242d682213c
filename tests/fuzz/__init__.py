"""Calls that nobody would make, over the whole OpenAPI document."""
