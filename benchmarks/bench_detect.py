"""`make bench-detect`: detectors side by side on seeded fleets; the last line is JSON."""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
import orjson

from benchmarks.large_window import large_window
from benchmarks.peers import available_peers
from benchmarks.public_data import alibaba_lines, bytedance_lines, hpas_score, public_folder
from benchmarks.scoring import Judge, Score, fleets, rough_fleets, score
from diagnosis.core.metrics import MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.degradation.detector import Detector
from diagnosis.degradation.paper import PaperRule
from diagnosis.readers.metrics_block import pack_window, read_block

ROOT = Path(__file__).resolve().parents[1]
SIZES = (4, 8, 64, 256)
#: Healthy windows of each size, in shares of `--healthy`. False alarms are told at 64 hosts:
#: whether two windows in a hundred alarm cannot be read from sixty. Large fleets take long.
HEALTHY_SHARE = {4: 1.0, 8: 1.0, 64: 4.0, 256: 0.25}
Figures = dict[str, float | None]


def main() -> None:
    options = _options()
    judges: dict[str, Judge] = {
        "ours": lambda window, placement: Detector().judge(window, placement=placement),
        "paper": lambda window, placement: PaperRule().judge(window, placement=placement),
        **available_peers(),
    }
    _say(f"methods: {', '.join(judges)}")
    if "pyod_ecod" not in judges:
        _say("PyOD is not here (requirements-bench.in): its methods are left out")
    scores = {hosts: _simulated(hosts, options, judges) for hosts in SIZES}
    rough = {hosts: _rough(hosts, options, {"ours": judges["ours"]}) for hosts in SIZES}
    _print_accuracy("simulated fleets", {hosts: scores[hosts]["ours"] for hosts in SIZES})
    _print_accuracy("rough fleets", {hosts: rough[hosts]["ours"] for hosts in SIZES})
    _print_kinds(scores[64]["ours"], rough[64]["ours"])
    _print_public(judges)
    window = large_window()
    seconds = {
        name: best(partial(judge, window, Placement()), times=1 if name == "minder_like" else 3)
        for name, judge in judges.items()
    }
    _print_seconds(seconds)
    figures = {
        name: _figures({hosts: scores[hosts][name] for hosts in SIZES}, seconds[name])
        for name in judges
    }
    figures["paper"]["paper_rule_s"] = seconds["paper"]
    ours = figures.pop("ours")
    ours["tick_ms"] = 1000 * tick_seconds(window)
    ours["paper_rule_s"] = seconds["paper"]
    ours["ingest_values_s"] = ingested()
    rate = window.values.size / best(lambda: read_block(pack_window(window)))
    _say(f"packed blocks there and back: {rate:.3g} values a second")
    peers = {name: _rounded(found) for name, found in figures.items()}
    _say(orjson.dumps({**_rounded(ours), "peers": peers}).decode())


def _simulated(
    hosts: int, options: argparse.Namespace, judges: Mapping[str, Judge]
) -> dict[str, Score]:
    per_kind, healthy = _windows(hosts, options)
    return score(fleets(hosts=hosts, per_kind=per_kind, healthy=healthy), dict(judges))


def _rough(
    hosts: int, options: argparse.Namespace, judges: Mapping[str, Judge]
) -> dict[str, Score]:
    """Rough fleets, our own figures alone: the generator is slow."""
    per_kind, healthy = _windows(hosts, options)
    healthy = min(healthy, options.healthy)
    return score(rough_fleets(hosts=hosts, per_kind=per_kind, healthy=healthy), dict(judges))


def _windows(hosts: int, options: argparse.Namespace) -> tuple[int, int]:
    """How many windows of each fault kind are scored at this size, and how many healthy ones."""
    per_kind = options.per_kind_large if hosts > 64 else options.per_kind
    return per_kind, round(HEALTHY_SHARE[hosts] * options.healthy)


def _figures(scores: Mapping[int, Score], seconds: float) -> Figures:
    """The figures of one method; false alarms and delays at 64 hosts, None what it has not."""
    at_64 = scores[64]
    return {
        **{f"f1_{hosts}": found.f1 for hosts, found in scores.items()},
        "top1_64": at_64.top1,
        "false_alarms_per_1000_host_hours": at_64.false_alarms,
        "healthy_alarmed": at_64.healthy_alarmed / max(at_64.healthy, 1),
        "delay_median_s": at_64.delay(0.5),
        "delay_p90_s": at_64.delay(0.9),
        "cpu_s_1000x25x360": seconds,
        "tick_ms": None,
        "paper_rule_s": None,
        "ingest_values_s": None,
    }


def ingested() -> float:
    """Values a CPU second into an incident's evidence and back, in a site of its own."""
    code = "from benchmarks.kept_windows import measure; measure()"
    with tempfile.TemporaryDirectory(prefix="aegis-bench-") as data:
        ours = {"AEGIS_DATA_DIR": data, "DATABASE_URL": f"sqlite:///{data}/site.sqlite3"}
        done = subprocess.run(
            [sys.executable, "manage.py", "shell", "--no-imports", "-c", code],
            cwd=ROOT,
            env={**os.environ, **ours, "AEGIS_LOG_LEVEL": "ERROR"},
            check=True,
            stdout=subprocess.PIPE,
        )
    return float(done.stdout.splitlines()[-1])


def best(run: Callable[[], object], times: int = 5) -> float:
    """CPU seconds of the quickest of several runs."""
    seconds = []
    for _ in range(times):
        started = process_time()
        run()
        seconds.append(process_time() - started)
    return min(seconds)


def tick_seconds(window: MetricWindow) -> float:
    """CPU seconds that one sample of all hosts takes in the streaming form."""
    detector = Detector()
    state = detector.start(window.between(window.time[0], window.time[59]))
    seconds = []
    for sample in range(60, 160):
        tick = window.between(window.time[sample], window.time[sample])
        started = process_time()
        state, _ = detector.advance(state, tick)
        seconds.append(process_time() - started)
    return float(np.median(seconds))


def _rounded(figures: Mapping[str, float | None]) -> Figures:
    return {
        name: None if value is None else float(f"{value:.4g}") for name, value in figures.items()
    }


def _print_accuracy(title: str, scores: Mapping[int, Score]) -> None:
    _say(f"{title}, ours:")
    for hosts, found in scores.items():
        worst = min(hits / of for hits, of in found.kinds.values())
        _say(
            f"  {hosts:3d} hosts: F1 {found.f1:.3f}, top-1 {found.top1:.3f}, "
            f"{found.false_alarms:.2f} false alarms per 1,000 host-hours, "
            f"{found.healthy_alarmed} of {found.healthy} healthy windows alarmed, delay median "
            f"{found.delay(0.5) or 0:.0f} s, p90 {found.delay(0.9) or 0:.0f} s, "
            f"recall in the worst kind {worst:.2f}"
        )


def _print_kinds(found: Score, rough: Score) -> None:
    for kind, (hits, of) in found.kinds.items():
        others = "{}/{}".format(*rough.kinds[kind])
        _say(f"  {kind:22s} recall {hits}/{of}, on rough fleets {others} (64 hosts)")


def _print_public(judges: Mapping[str, Judge]) -> None:
    folder = public_folder()
    if folder is None:
        _say("public data: left out, AEGIS_CASES_DIR names no folder that has it")
        return
    for name, found in hpas_score(folder, judges).items():
        _say(
            f"hpas same-phase fleets, {name}: top-1 {found.top1:.2f} (target 0.75), F1 "
            f"{found.f1:.2f} (0.70), healthy fleets alarmed "
            f"{found.healthy_alarmed / max(found.healthy, 1):.0%} (at most 20 %)"
        )
    for line in (*bytedance_lines(folder), *alibaba_lines(folder)):
        _say(line)


def _print_seconds(seconds: Mapping[str, float]) -> None:
    for name, found in seconds.items():
        times = "" if name == "ours" else f", {found / seconds['ours']:.2f} times ours"
        _say(f"1,000 hosts x 25 metrics x 360 samples, {name}: {found:.3f} CPU s{times}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-kind", type=int, default=10, help="windows per fault kind")
    parser.add_argument("--per-kind-large", type=int, default=3, help="the same at 256 hosts")
    parser.add_argument("--healthy", type=int, default=60, help="healthy windows at 4 hosts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
