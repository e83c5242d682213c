"""What the detectors say about public labelled data, where `AEGIS_CASES_DIR` has it.

hpas_ldms: runs of one application on one machine, aligned on the time since their start, stand for
ten hosts; peers are taken from the same phase of the run, since others give the answer away.
bytedance_straggler: operation traces with three different causes. alibaba_minibatch: mini-batch
times of ten workers.
"""

import csv
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scoring import Judge, Score
from diagnosis.core.metrics import MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.degradation.detector import Detector
from diagnosis.degradation.operations import ComputeContrast
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.metrics import read_metric_bytes
from diagnosis.readers.operations import read_operations

#: Seconds after the onset that a window of hpas_ldms shows; seconds before it, by application.
AFTER, BEFORE = 45, {"ExaMiniMD": 45, "SW4lite": 35}
PEERS, EARLIER = 9, 40
#: Cause, slowdown and slow workers (replica, stage) of the three operation traces.
TRACES: Mapping[str, tuple[str, float, tuple[tuple[int, int], ...]]] = {
    "AR": ("slow-worker", 1.973, ((0, 0),)),
    "ST": ("heavy-stage", 1.179, ()),
    "SE": ("uneven-sequences", 1.537, ()),
}


@dataclass(frozen=True, slots=True)
class PublicTruth:
    """The host that was slowed down and when (seconds), None where nobody was."""

    kind: str | None
    host: str | None
    onset: float | None


def public_folder() -> Path | None:
    """The folder with the metric data, None where there is none."""
    named = os.environ.get("AEGIS_CASES_DIR")
    folder = Path(named) / "metrics" if named else None
    return folder if folder is not None and folder.is_dir() else None


def hpas_score(folder: Path, judges: Mapping[str, Judge]) -> dict[str, Score]:
    """Each judge on the same-phase fleets of ten."""
    scores = {name: Score() for name in judges}
    for window, truth in _hpas_fleets(folder / "hpas_ldms"):
        for name, judge in judges.items():
            scores[name].add(window, truth, judge(window, Placement.of([])))
    return scores


def _hpas_fleets(folder: Path) -> Iterator[tuple[MetricWindow, PublicTruth]]:
    meta = json.loads((folder / "meta.json").read_text())
    random = np.random.default_rng(0)
    with np.load(folder / "runs.npz") as archive:
        samples = {run["id"]: archive[run["id"]] for run in meta["runs"]}
    for app, before in BEFORE.items():
        runs = [run for run in meta["runs"] if run["app"] == app]
        for run in runs:
            at = _onset(run)
            if not run["windows"] or at - before < 5:
                continue
            others = [peer for peer in runs if peer is not run and _onset(peer) >= at + AFTER]
            for _ in range(3 if len(others) >= PEERS else 0):
                picked = [others[i] for i in random.choice(len(others), PEERS, replace=False)]
                yield _fleet(random, meta, samples, [run, *picked], (at - before, at + AFTER, at))
            calm = [peer for peer in runs if _onset(peer) >= at]
            if len(calm) > PEERS and at - before - EARLIER >= 0:
                picked = [calm[i] for i in random.choice(len(calm), PEERS + 1, replace=False)]
                span = at - before - EARLIER, at, None
                yield _fleet(random, meta, samples, picked, span)


def _onset(run: Mapping[str, Any]) -> int:
    return int(run["windows"][0][0]) if run["windows"] else 10**6


def _fleet(
    random: np.random.Generator,
    meta: Mapping[str, Any],
    samples: Mapping[str, np.ndarray],
    runs: Sequence[Mapping[str, Any]],
    span: tuple[int, int, int | None],
) -> tuple[MetricWindow, PublicTruth]:
    """One window of these runs from `span[0]` to `span[1]`; the first is slowed at `span[2]`."""
    low, high, at = span
    order = random.permutation(len(runs))
    values = np.stack([samples[runs[i]["id"]][low:high] for i in order]).transpose(2, 0, 1)
    hosts = tuple(f"node-{number:03d}" for number in range(len(runs)))
    time = np.arange(low, high, dtype=np.float64)
    window = MetricWindow(values.astype(np.float32), tuple(meta["metrics"]), hosts, time)
    if at is None:
        return window, PublicTruth(None, None, None)
    host = hosts[int(np.flatnonzero(order == 0)[0])]
    return window, PublicTruth(runs[0]["kinds"][0], host, float(at))


def bytedance_lines(folder: Path) -> Iterator[str]:
    """Of each trace what was found beside the truth."""
    for name, (cause, slowdown, workers) in TRACES.items():
        path = folder / "bytedance_straggler" / f"trace-{name}.parquet"
        try:
            found = ComputeContrast()(read_operations(path.read_bytes()))
        except (UnreadableEvidence, OSError) as error:
            yield f"bytedance {name}: left out: {error}"
            continue
        named = tuple((worker.replica, worker.stage) for worker in found.workers)
        right = found.cause.value == cause and named == workers
        off = found.slowdown / slowdown - 1
        yield (
            f"bytedance {name}: {found.cause.value} (truth {cause}), workers {named} (truth "
            f"{workers}), slowdown {found.slowdown:.3f} (truth {slowdown}, {off:+.1%}; target "
            f"within 2 %): {'right' if right and abs(off) <= 0.02 else 'WRONG'}"
        )


def alibaba_lines(folder: Path) -> Iterator[str]:
    """job_1's sixth worker straggles from iteration 181 on; job_2's differ by nature."""
    named = _named_workers(folder, 1)
    late = [f"{host} at iteration {iteration:.0f}" for host, iteration in named]
    right = [host for host, _ in named] == ["worker-6"] and 181 <= named[0][1] <= 191
    yield (
        f"alibaba job_1: {', '.join(late) or 'nobody'} (truth worker-6 from 181 on; target by "
        f"191): {'right' if right else 'WRONG'}"
    )
    named = _named_workers(folder, 2)
    yield (
        f"alibaba job_2: {', '.join(host for host, _ in named) or 'nobody'} (target nobody): "
        f"{'WRONG' if named else 'right'}"
    )


def _named_workers(folder: Path, job: int) -> list[tuple[str, float]]:
    with (folder / "alibaba_minibatch" / f"job_{job}_norm.csv").open() as file:
        rows = [
            f"{row['time']},worker-{row['worker']},iteration_s,{row['batch_time_norm']}"
            for row in csv.DictReader(file)
        ]
    window = read_metric_bytes("\n".join(["time,host,metric,value", *rows]).encode())
    return [
        (suspect.host, (suspect.alarm_time - 1) / 10 + 1)
        for suspect in Detector().judge(window).suspects
        if suspect.alarm_time is not None
    ]
