"""`make bench-collectives`: dumps and counters to the verdict, in time and memory; ends in JSON.

1,024 full dumps are made once per run (about a minute) in a folder that is removed afterwards,
unless `--dumps` names one to keep. Peak memory is this process's and its readers' together.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import orjson

from benchmarks import torchfrtrace
from benchmarks.collective_cases import WHY_NO_CASES, Row, rows
from benchmarks.collective_dumps import write_dumps
from diagnosis.collectives.counters_verdict import Told, localise_summaries
from diagnosis.collectives.procedure import localise
from diagnosis.core.collectives import Communicator, counters_only
from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement, RankPlace
from diagnosis.core.words import Role
from diagnosis.readers.flight_recorder import read_dumps
from diagnosis.simulator.layout import Axis, Layout

FULL, SMALL = 1024, 64
SUMMARIES = Layout(tp=8, pp=8, dp=256)
_CULPRIT = 5003


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds from files on disk to the verdict, MB at the peak, and who was named.

    `cpu_s` is processor time over all processes: on a busy machine it says more than the clock.
    """

    seconds: float
    read_s: float
    cpu_s: float
    peak_mb: float
    named: list[int | None]


def main() -> None:
    options = _options()
    if options.measure:
        sys.stdout.write(orjson.dumps(_measure(options.measure)).decode())
        return
    with tempfile.TemporaryDirectory(prefix="aegis-bench-") as scratch:
        folder = options.dumps or Path(scratch)
        full = _full(folder / str(FULL), FULL)
        _say(
            f"{FULL} dumps: {full.seconds:.2f} s, {full.read_s:.2f} s of it reading; "
            f"{full.cpu_s:.2f} s of processor time"
        )
        small = _full(folder / str(SMALL), SMALL)
        _say(f"{SMALL} dumps: {small.seconds:.2f} s")
        ratio = _ratio(folder / str(SMALL), small)
    summaries = summaries_seconds()
    found = _cases()
    peers = [row for row in found if row.peer]
    figures = {
        "full_1024_s": round(full.seconds, 2),
        "full_1024_peak_mb": round(full.peak_mb),
        "summaries_16384_s": round(summaries, 4),
        "torchfrtrace_ratio_64": None if ratio is None else round(ratio, 1),
        "cases_right": sum(row.right for row in found),
        "cases_total": len(found),
        "torchfrtrace_right": sum(row.peer_right for row in peers) if peers else None,
    }
    _say(orjson.dumps(figures).decode())


def _full(folder: Path, ranks: int) -> Measured:
    """The measurement in a process of its own, so that its memory is its own."""
    if not folder.exists():
        started = perf_counter()
        culprit = write_dumps(folder, ranks=ranks)
        size = sum(path.stat().st_size for path in folder.iterdir()) >> 20
        _say(f"{ranks} dumps of {size} MB, rank {culprit} hangs ({perf_counter() - started:.0f} s)")
    said = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench_collectives", "--measure", str(folder)],
        check=True,
        capture_output=True,
    )
    return Measured(**orjson.loads(said.stdout))


def _measure(folder: Path) -> Measured:
    started = perf_counter()
    dumps, skipped = read_dumps([Evidence.from_path(path) for path in folder.iterdir()])
    read = perf_counter() - started
    found, _ = localise(dumps)
    seconds = perf_counter() - started
    if skipped:
        raise SystemExit(f"{len(skipped)} dumps could not be read: {skipped[0].reason}")
    own, child = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu = sum(used.ru_utime + used.ru_stime for used in (own, child))
    peak = (own.ru_maxrss + child.ru_maxrss * len(os.sched_getaffinity(0))) / 1024
    named = [s.target.rank for s in found.suspects if s.role is Role.CULPRIT]
    return Measured(seconds, read, cpu, peak, named)


def _ratio(folder: Path, ours: Measured) -> float | None:
    command = torchfrtrace.program()
    if command is None:
        _say(f"peer skipped: {torchfrtrace.WHY_MISSING}")
        return None
    theirs = torchfrtrace.ask(command, folder, limit_s=torchfrtrace.FULL_LIMIT_S)
    _say(f"torchfrtrace on {SMALL} dumps: {theirs.seconds:.1f} s, {theirs.words}")
    return None if theirs.failure else theirs.seconds / ours.seconds


def summaries_seconds(times: int = 7) -> float:
    """Counter arrays of 16,384 ranks in memory to the verdict: the median of some runs.

    Each run has arrays and a placement of its own, so that nothing is kept from the one before.
    """
    seconds = []
    for _ in range(times):
        counters, placement = _counters(), _placement()
        started = perf_counter()
        found, _ = localise_summaries(counters, placement=placement, told=Told(still=True))
        seconds.append(perf_counter() - started)
        if found.suspects[0].target.rank != _CULPRIT:
            raise SystemExit(f"the wrong rank was named: {found.verdict.summary}")
    return float(np.median(seconds))


def _placement() -> Placement:
    return Placement.of(
        RankPlace(rank, f"node-{rank // 8:04}", rank % 8, rank % 8)
        for rank in range(SUMMARIES.world)
    )


def _counters() -> list[Communicator]:
    """All collective communicators of a job in which one rank has not launched operation 100."""
    found = []
    for group in SUMMARIES.communicators:
        if group.axis is Axis.PIPELINE:
            continue
        ranks = np.asarray(group.ranks)
        enqueued, completed = np.full(len(ranks), 100), np.full(len(ranks), 99)
        enqueued[ranks == _CULPRIT] = 99
        found.append(
            counters_only(
                group.name, group.description, ranks, enqueued=enqueued, completed=completed
            )
        )
    return found


def _cases() -> list[Row]:
    root = os.environ.get("AEGIS_CASES_DIR")
    if not root:
        _say(f"cases skipped: {WHY_NO_CASES}")
        return []
    return list(rows(Path(root), torchfrtrace.program()))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dumps", type=Path, help="keep the dumps here, or use those there")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
