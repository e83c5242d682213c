"""`make bench-detect`: detectors side by side on seeded fleets; the last line is JSON."""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from time import process_time

import numpy as np
import orjson

from benchmarks.peers import available_peers
from benchmarks.scoring import Judge, Score, fleets, score
from diagnosis.core.metrics import MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.degradation.detector import Detector
from diagnosis.degradation.paper import PaperRule
from diagnosis.readers.metrics_block import pack_window, read_block
from diagnosis.simulator.fleet_load import NOMINAL

SIZES = (4, 8, 64, 256)


def main() -> None:
    options = _options()
    judges: dict[str, Judge] = {
        "ours": lambda window, placement: Detector().judge(window, placement=placement),
        "paper": lambda window, placement: PaperRule().judge(window, placement=placement),
        **available_peers(),
    }
    scores = {
        hosts: score(
            fleets(
                hosts=hosts,
                per_kind=options.per_kind if hosts <= 64 else options.per_kind_large,
                healthy=options.healthy if hosts <= 64 else options.healthy // 4,
            ),
            judges,
        )
        for hosts in SIZES
    }
    window = large_window()
    figures = {
        name: {
            **accuracy({hosts: scores[hosts][name] for hosts in SIZES}),
            "cpu_s_1000x25x360": best(partial(judge, window, Placement()), times=3),
        }
        for name, judge in judges.items()
        if name != "minder_like"
    }
    if "minder_like" in judges:
        figures["minder_like"] = accuracy({h: scores[h]["minder_like"] for h in SIZES})
    ours = figures.pop("ours")
    ours |= {
        "tick_ms": 1000 * tick_seconds(window),
        "paper_rule_s": figures["paper"]["cpu_s_1000x25x360"],
        "ingest_values_s": window.values.size / best(lambda: read_block(pack_window(window))),
    }
    _print_kinds(scores[64]["ours"])
    sys.stdout.write(
        orjson.dumps(
            {**_rounded(ours), "peers": {name: _rounded(found) for name, found in figures.items()}}
        ).decode()
        + "\n"
    )


def accuracy(scores: dict[int, Score]) -> dict[str, float | None]:
    """The figures of one judge over all sizes; false alarms and delays at 64 hosts."""
    at_64 = scores[64]
    return {
        **{f"f1_{hosts}": found.f1 for hosts, found in scores.items()},
        **{f"top1_{hosts}": found.top1 for hosts, found in scores.items()},
        "recall_worst_kind": min(found / of for found, of in at_64.kinds.values()),
        "false_alarms_per_1000_host_hours": at_64.false_alarms,
        "healthy_alarmed": at_64.healthy_alarmed / max(at_64.healthy, 1),
        "delay_median_s": at_64.delay(0.5),
        "delay_p90_s": at_64.delay(0.9),
    }


def large_window(hosts: int = 1000, metrics: int = 25, samples: int = 360) -> MetricWindow:
    """1,000 hosts for an hour, of noise alone."""
    random = np.random.default_rng(0)
    names = tuple(NOMINAL)[:metrics]
    values = np.empty((metrics, hosts, samples), dtype=np.float32)
    for index, nominal in enumerate(list(NOMINAL.values())[:metrics]):
        by_host = nominal.level * np.exp(nominal.spread * random.normal(size=(hosts, 1)))
        noise = 1 + 0.3 * nominal.noise * random.normal(size=(hosts, samples))
        values[index] = np.maximum(by_host * noise, 0)
    host_names = tuple(f"node-{number:04d}" for number in range(hosts))
    time = 1.75e9 + 10.0 * np.arange(samples, dtype=np.float64)
    return MetricWindow(values, names, host_names, time)


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


def _rounded(figures: dict[str, float | None]) -> dict[str, float | None]:
    return {
        name: None if value is None else float(f"{value:.4g}") for name, value in figures.items()
    }


def _print_kinds(found: Score) -> None:
    for kind, (hits, of) in found.kinds.items():
        sys.stdout.write(f"{kind:24s} recall {hits}/{of}\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-kind", type=int, default=6, help="windows per fault kind")
    parser.add_argument("--per-kind-large", type=int, default=2, help="the same at 256 hosts")
    parser.add_argument("--healthy", type=int, default=80, help="healthy windows per size")
    return parser.parse_args()


if __name__ == "__main__":
    main()
