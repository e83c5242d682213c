"""Metric windows beside an incident and back, in a process with Django."""

import sys
from dataclasses import replace
from time import process_time

import numpy as np
from django.core.management import call_command

from benchmarks.large_window import large_window
from diagnosis.services.kept_windows import keep_window, kept_window
from incidents.roles import Actor
from incidents.services.opening import open_incident


def measure(times: int = 3) -> None:
    """Prints the values a CPU second that are packed, attached, read and unpacked, the best run.

    Each run takes other values, so that nothing is found to be there already.
    """
    call_command("migrate", verbosity=0)
    actor = Actor.system("benchmark")
    incident, _ = open_incident(actor=actor, title="slow", cluster="benchmark")
    window, best = large_window(), 0.0
    for run in range(times):
        another = replace(window, values=window.values + np.float32(run))
        started = process_time()
        evidence = keep_window(incident, another)
        if evidence is None:
            raise SystemExit("the window was not kept")
        back = kept_window(evidence)
        best = max(best, another.values.size / (process_time() - started))
        if not np.array_equal(back.values, another.values):
            raise SystemExit("the window came back otherwise than it was kept")
    sys.stdout.write(f"{best}\n")
