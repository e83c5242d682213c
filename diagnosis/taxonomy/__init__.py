"""The fault taxonomy: signatures as data, their validation, and matching them against log lines."""
