"""`make bench-offline`: the offline planner on 1,000 simulated clusters beside the obvious scheme.

Shares of clusters in which exactly the planted fault is named; rounds without the one across
everything. Then 1,000 simulated sweeps of delivery checks. Ends with one JSON line.
"""

import sys
import time

import orjson

from benchmarks.check_sweeps import checked
from benchmarks.obvious_offline import obvious_rounds
from benchmarks.offline_campaigns import Campaign, campaigns

#: Name in the JSON line, kind of fault, probability that a test passes it.
KINDS = (
    ("one", "host", 0.0),
    ("flaky", "host", 0.1),
    ("two", "two-hosts", 0.0),
    ("pair", "pair", 0.0),
    ("tor", "tor", 0.0),
    ("aggregation", "aggregation", 0.0),
)
CLUSTERS = 1000
SWEEPS = 1000


def main() -> None:
    share, more = divmod(int(sys.argv[1]) if len(sys.argv) > 1 else CLUSTERS, len(KINDS))
    line: dict[str, float] = {}
    contended = 0
    for place, (name, kind, miss) in enumerate(KINDS):
        started = time.process_time()
        done = list(campaigns(kind, share + (place < more), miss=miss, seed=place))
        contended += sum(one.contended for one in done)
        line[f"right_{name}"] = _mean([one.right for one in done])
        rounds = _mean([one.rounds for one in done])
        if name == "one":
            line["rounds_one"] = rounds
            line["per_tor_rounds_one"] = _mean([obvious_rounds(one.cluster)[1] for one in done])
        _report(name, done, rounds, time.process_time() - started)
    line["contended"] = contended
    rates = checked(SWEEPS // 4, seed=9)
    line["held_healthy"] = round(rates.healthy_held / rates.healthy, 4)
    line["delivered_faulty"] = round(rates.faulty_delivered / rates.faulty, 4)
    sys.stdout.write(f"{SWEEPS} sweeps of delivery checks: {rates}\n")
    sys.stdout.write(orjson.dumps(line).decode() + "\n")


def _mean(values: list[bool] | list[int]) -> float:
    return round(sum(values) / max(len(values), 1), 4)


def _report(name: str, done: list[Campaign], rounds: float, seconds: float) -> None:
    right = sum(one.right for one in done)
    sys.stdout.write(
        f"{name:12s} {right:4d} of {len(done):4d} right, {rounds:5.1f} rounds on average, "
        f"{seconds:6.1f} CPU s\n"
    )
    for one in done:
        if not one.right:
            hosts = len(one.cluster.topology)
            sys.stdout.write(f"    missed: {one.cluster.fault} among {hosts} hosts\n")


if __name__ == "__main__":
    main()
