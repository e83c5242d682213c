"""Telling other systems what happened: signed, in order, and tried for days."""
