"""Full Flight Recorder dumps of a simulated job, as large as a default ring makes them."""

import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from diagnosis.simulator.run import Run
from diagnosis.simulator.scenarios import simulate
from diagnosis.simulator.writers.flight_recorder import dump_of

ENTRIES = 2000
#: Frames between the training step and the collective, so that a dump takes about 1 MB.
MODULE_FRAMES = 75
_STEPS = 300


def write_dumps(folder: Path, *, ranks: int, seed: int = 1) -> int:
    """A hang in computation over `ranks` ranks of 8 a host; the culprit's rank.

    Every dump holds `ENTRIES` operations with stacks. Python's own pickler writes them (protocol
    2, as torch's): the simulator's, byte for byte torch's, would take minutes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    simulation = simulate(
        "hang_compute", seed=seed, hosts=ranks // 8, tp=8, pp=4, steps=_STEPS, ring=ENTRIES
    )
    cores = len(os.sched_getaffinity(0))
    write = partial(_write, simulation.run, folder)
    with ProcessPoolExecutor(cores, mp_context=get_context("fork")) as pool:
        list(pool.map(write, range(ranks), chunksize=32))
    return simulation.truth.culprits[0]


def _write(run: Run, folder: Path, rank: int) -> None:
    dump = dump_of(run, rank)
    shared: dict[int, dict[str, Any]] = {}
    modules = [
        {
            "name": f"forward_{number}",
            "filename": f"/opt/venv/lib/python3.11/site-packages/torch/nn/modules/{number}.py",
            "line": 100 + number,
        }
        for number in range(MODULE_FRAMES)
    ]
    for entry in dump["entries"]:
        own = [shared.setdefault(id(frame), dict(frame)) for frame in entry["frames"]]
        entry["frames"] = [*own[:2], *modules, *own[2:]]
    (folder / f"comm_lib_trace_rank_{rank}").write_bytes(pickle.dumps(dump, protocol=2))
