"""Seeded generators of (evidence, truth): a fault is simulated, its symptoms are derived.

A job's ranks walk through their training schedule; a collective ends when all its members have
arrived. A scenario stops, slows or misleads one rank, everyone else ends in the wait that follows,
and the writers put down what each program would have left behind.
"""
