"""Offline diagnosis: which rounds of test jobs to run, and what their answers convict.

Group testing with a belief: hosts, pairs of hosts, ToRs, pods and the layers above them are
possible faults; every answer of a group shifts the odds, and the next round is the one that
separates what is left best, with no two groups on one uplink (after the backstop of "Evolution of
Aegis", NSDI '25).
"""
