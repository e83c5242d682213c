"""The embedded set-up: everything on one machine, started and stopped by one command."""
