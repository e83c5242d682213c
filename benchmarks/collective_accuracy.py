"""`make accuracy-collectives`: who is named from the dumps of simulated 3D-parallel jobs.

Dumps alone, no logs, as the reader gives them (`benchmarks.recorded`). Right: the culprit leads
everyone who is no victim, with the right class of cause; a healthy job has no culprit and isolates
nobody. Where the culprit's own dump is missing, it has to lead as possible, perhaps level with
other silent ranks of the operation that everyone waits in: nothing in the dumps tells those apart,
and `alone` counts how often it led by itself. Where a process died, a silent rank of its host
counts, since torchrun ends them all together. Ends in one JSON line.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

import orjson

from benchmarks.recorded import Recorder
from diagnosis.collectives.procedure import localise
from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.words import Action, Role, VerdictClass
from diagnosis.simulator.choosing import call_of, is_collective
from diagnosis.simulator.job import Injection, plan_job
from diagnosis.simulator.options import Options
from diagnosis.simulator.run import Run, run
from diagnosis.simulator.scenarios import simulate
from diagnosis.simulator.timeline import Disturbances

KINDS = (
    "healthy", "healthy_midrun", "hang_compute", "process_killed", "gpu_fallen_off_bus",
    "missing_dump", "call_mismatch", "order_deadlock", "slow_rank",
)  # fmt: skip
USER_KINDS = {"call_mismatch", "order_deadlock"}
HEALTHY_KINDS = {"healthy", "healthy_midrun"}
#: Faults whose dumps are partly missing: each in its turn, by the seed.
MISSING_KINDS = ("hang_compute", "gpu_fallen_off_bus", "call_mismatch", "order_deadlock")
MISSING, TWO = "missing_20_percent", "two_faults"
#: Hosts of 8 GPUs and how many seeds of each size, for every kind: 200 in all, none used twice.
SIZES = ((8, 110), (32, 66), (128, 18), (512, 4), (2048, 2))
_STEPS = {"slow_rank": 8, "healthy_midrun": 8}
_MISSING_SHARE = 0.2


@dataclass
class Tally:
    """How often one kind was right, by size, and the seeds that were not."""

    right: int = 0
    of: int = 0
    alone: int = 0
    by_ranks: dict[int, tuple[int, int]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def add(self, seed: int, ranks: int, leads: int) -> None:
        """`leads` is how many ranks lead level with the culprit, it included; 0 for a wrong one."""
        right = leads > 0
        self.of += 1
        self.right += right
        self.alone += leads == 1
        before, of = self.by_ranks.get(ranks, (0, 0))
        self.by_ranks[ranks] = before + right, of + 1
        if not right:
            self.wrong.append(f"{seed}/{ranks}")

    def to_dict(self) -> dict[str, object]:
        sizes = {str(ranks): f"{right}/{of}" for ranks, (right, of) in self.by_ranks.items()}
        share = round(self.right / max(self.of, 1), 4)
        return {
            "right": self.right,
            "of": self.of,
            "share": share,
            "alone": self.alone,
            "ranks": sizes,
        }


def judge(happened: Run) -> Conclusion:
    """The conclusion from the dumps that a run left, and its placement."""
    found, _ = localise(Recorder(happened).dumps(), placement=happened.job.placement)
    return found


def named(found: Conclusion) -> list[int | None]:
    """Ranks of all suspects but victims, first the likeliest."""
    return [s.target.rank for s in found.suspects if s.role is not Role.VICTIM]


def leading(kind: str, happened: Run, found: Conclusion) -> int:
    """How many ranks lead level with the culprit, it included; 0 where the answer is wrong."""
    if kind in HEALTHY_KINDS:
        isolates = any(item.action is Action.ISOLATE_HOST for item in found.recommendations)
        return int(not isolates and all(s.role is not Role.CULPRIT for s in found.suspects))
    ranked = [s for s in found.suspects if s.role is not Role.VICTIM]
    culprit = happened.injection.culprits[0]
    if happened.endings[culprit].dump_at is None:
        level = [s.target.rank for s in ranked if s.score == ranked[0].score]
        return len(level) * (not _ended_with(happened, culprit).isdisjoint(level))
    user = found.verdict.cls is VerdictClass.USER
    return int(named(found)[:1] == [culprit] and user == (kind in USER_KINDS))


def _ended_with(happened: Run, culprit: int) -> set[int]:
    """The culprit, and where its process died the silent ranks of its host."""
    if culprit not in happened.injection.exits:
        return {culprit}
    cluster = happened.job.cluster
    same = cluster.ranks_of(cluster.host_of(culprit))
    return {rank for rank in same if happened.endings[rank].dump_at is None}


def _simulated(kind: str, seed: int, hosts: int) -> Run:
    return simulate(kind, seed=seed, hosts=hosts, steps=_STEPS.get(kind, 5)).run


def with_missing_dumps(kind: str, seed: int, hosts: int) -> Run:
    """A fifth of all ranks leaves no dump, the culprit perhaps among them."""
    happened = _simulated(kind, seed, hosts)
    lost = happened.job.rng("lost dumps").random(happened.job.world) < _MISSING_SHARE
    return replace(
        happened,
        endings=tuple(
            replace(ending, dump_at=None) if lost[rank] else ending
            for rank, ending in enumerate(happened.endings)
        ),
    )


def two_faults(seed: int, hosts: int) -> Run | None:
    """Two ranks of different hosts hang in computation, neither waiting for the other.

    None where the seed's two ranks share a host, or one stops the other before it hangs.
    """
    job = plan_job("two", seed=seed, hosts=hosts, gpus_per_host=8, options=Options())
    ranks = job.rng("culprits").choice(job.world, 2, replace=False).tolist()
    stops = {rank: call_of(job, rank, is_collective(job, rank)) for rank in ranks}
    disturbances = Disturbances(host_stops=stops)
    happened = run(job, Injection(culprits=tuple(ranks), disturbances=disturbances))
    apart = job.cluster.host_of(ranks[0]) is not job.cluster.host_of(ranks[1])
    reached = all(len(happened.timeline.enqueued[rank]) == stops[rank] for rank in ranks)
    return happened if apart and reached else None


def both_in_top_3(happened: Run, found: Conclusion) -> bool:
    return set(happened.injection.culprits) <= set(named(found)[:3])


def answered(kind: str, hosts: int, seed: int) -> int | None:
    """See `leading`; None where the seed makes no such job."""
    if kind == TWO:
        both = two_faults(seed, hosts)
        return None if both is None else int(both_in_top_3(both, judge(both)))
    if kind == MISSING:
        kind = MISSING_KINDS[seed % len(MISSING_KINDS)]
        happened = with_missing_dumps(kind, seed, hosts)
    else:
        happened = _simulated(kind, seed, hosts)
    return leading(kind, happened, judge(happened))


def main() -> None:
    options = _options()
    tallies = {kind: Tally() for kind in options.kinds}
    with ProcessPoolExecutor(options.jobs) as pool:
        first = options.first
        for hosts, count in options.sizes:
            seeds = range(first, first + count)
            first += count
            for kind, tally in tallies.items():
                started = perf_counter()
                found = pool.map(partial(answered, kind, hosts), seeds)
                _count(tally, zip(seeds, found, strict=True), 8 * hosts)
                spent = perf_counter() - started
                sys.stderr.write(f"{kind}, {8 * hosts} ranks: {spent:.0f} s; {tally.to_dict()}\n")
    for line in _report(tallies, options.sizes, options.first):
        sys.stdout.write(line + "\n")


def _count(tally: Tally, found: Iterable[tuple[int, int | None]], ranks: int) -> None:
    for seed, leads in found:
        if leads is not None:
            tally.add(seed, ranks, leads)


def _report(
    tallies: dict[str, Tally], sizes: Sequence[tuple[int, int]], first: int
) -> Iterator[str]:
    for name, tally in tallies.items():
        wrong = f"  not (seed/ranks): {', '.join(tally.wrong[:8])}" if tally.wrong else ""
        share = tally.right / max(tally.of, 1)
        yield f"{name:20s} {tally.right:4d} of {tally.of:4d}  {share:.3f}{wrong}"
    single = [tally for name, tally in tallies.items() if name not in {MISSING, TWO}]
    right, of = sum(t.right for t in single), sum(t.of for t in single)
    figures = {
        "seeds": {str(8 * hosts): count for hosts, count in sizes},
        "first_seed": first,
        "single_faults_top_1": round(right / max(of, 1), 4),
        "single_faults": f"{right}/{of}",
        "kinds": {name: tally.to_dict() for name, tally in tallies.items()},
    }
    yield orjson.dumps(figures).decode()


def _size(text: str) -> tuple[int, int]:
    """`hosts:seeds`."""
    hosts, _, seeds = text.partition(":")
    return int(hosts), int(seeds)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=5000, help="rules were mended on others")
    parser.add_argument(
        "--sizes", type=_size, nargs="+", default=SIZES, help="hosts of 8 ranks and seeds: 8:200"
    )
    parser.add_argument("--kinds", nargs="*", default=[*KINDS, MISSING, TWO])
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_args()


if __name__ == "__main__":
    main()
