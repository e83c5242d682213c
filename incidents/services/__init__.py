"""Writes: each one permission, one atomic block and one event; keyword-only, no request inside."""
