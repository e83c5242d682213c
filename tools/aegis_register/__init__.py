"""Registers jobs with Aegis from what schedulers print. Needs Python 3.9 and nothing else."""
