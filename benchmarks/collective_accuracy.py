"""`make accuracy-collectives`: who is named from the dumps of simulated 3D-parallel jobs.

Dumps alone, no logs. Right: the culprit leads everyone who is no victim, with the right class of
cause; a healthy job has no culprit and isolates nobody. A culprit that left no dump itself counts
when a silent rank of its host leads: torchrun ends all of a host's ranks when one dies.
"""

import argparse
import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

from diagnosis.collectives.procedure import localise
from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.evidence import Evidence
from diagnosis.core.words import Action, Role, VerdictClass
from diagnosis.readers.flight_recorder import read_dumps
from diagnosis.simulator.choosing import call_of, is_collective
from diagnosis.simulator.job import Injection, plan_job
from diagnosis.simulator.options import Options
from diagnosis.simulator.run import Run, run
from diagnosis.simulator.scenarios import SCENARIOS, simulate
from diagnosis.simulator.timeline import Disturbances
from diagnosis.simulator.writers.flight_recorder import dump_bytes

KINDS = (
    "healthy", "healthy_midrun", "hang_compute", "process_killed", "gpu_fallen_off_bus",
    "missing_dump", "call_mismatch", "order_deadlock", "slow_rank",
)  # fmt: skip
USER_KINDS = {"call_mismatch", "order_deadlock"}
HEALTHY_KINDS = {"healthy", "healthy_midrun"}
#: Hosts of 8 GPUs: 64 ranks by default, up to 1,024.
HOSTS = (3, 8)
_STEPS = {"slow_rank": 8, "healthy_midrun": 8}
_MISSING_SHARE = 0.2


@dataclass
class Tally:
    """How often one kind was right, and the seeds that were not."""

    right: int = 0
    of: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, label: str, *, right: bool) -> None:
        self.of += 1
        self.right += right
        if not right:
            self.wrong.append(label)

    @property
    def share(self) -> float:
        return self.right / max(self.of, 1)


def judge(happened: Run) -> Conclusion:
    """The conclusion from the dumps that a run left, and its placement."""
    pieces = []
    for rank, ending in enumerate(happened.endings):
        if ending.dump_at is not None:
            pieces.append(_evidence(f"comm_lib_trace_rank_{rank}", dump_bytes(happened, rank)))
    dumps, _ = read_dumps(pieces)
    found, _ = localise(dumps, placement=happened.job.placement)
    return found


def _evidence(name: str, content: bytes) -> Evidence:
    return Evidence(name=name, open=lambda: io.BytesIO(content), size=len(content))


def named(found: Conclusion) -> list[int | None]:
    """Ranks of all suspects but victims, first the likeliest."""
    return [s.target.rank for s in found.suspects if s.role is not Role.VICTIM]


def is_right(kind: str, happened: Run, found: Conclusion) -> bool:
    if kind in HEALTHY_KINDS:
        isolates = any(item.action is Action.ISOLATE_HOST for item in found.recommendations)
        return not isolates and all(s.role is not Role.CULPRIT for s in found.suspects)
    first = named(found)[:1]
    culprit = happened.injection.culprits[0]
    user = found.verdict.cls is VerdictClass.USER
    if user != (kind in USER_KINDS) or not first:
        return False
    if happened.endings[culprit].dump_at is None:
        return first[0] in _silent_on_host(happened, culprit)
    return first == [culprit]


def _silent_on_host(happened: Run, culprit: int) -> set[int]:
    """Ranks without a dump on the culprit's host: its launcher ends them all together."""
    cluster = happened.job.cluster
    same = cluster.ranks_of(cluster.host_of(culprit))
    return {rank for rank in same if happened.endings[rank].dump_at is None}


def single_faults(kind: str, seeds: range, hosts: int, **options: Any) -> Iterator[Run]:
    for seed in seeds:
        chosen: dict[str, Any] = {"steps": _STEPS.get(kind, 5), **options}
        yield simulate(kind, seed=seed, hosts=hosts, **chosen).run


def two_faults(seeds: range, hosts: int) -> Iterator[Run]:
    """Two ranks of different hosts hang in computation before either can wait for the other."""
    for seed in seeds:
        job = plan_job("two", seed=seed, hosts=hosts, gpus_per_host=8, options=Options())
        ranks = job.rng("culprits").choice(job.world, 2, replace=False).tolist()
        stops = {rank: call_of(job, rank, is_collective(job, rank)) for rank in ranks}
        happened = run(
            job,
            Injection(culprits=tuple(ranks), disturbances=Disturbances(host_stops=stops)),
        )
        apart = job.cluster.host_of(ranks[0]) is not job.cluster.host_of(ranks[1])
        reached = all(len(happened.timeline.enqueued[r]) == stops[r] for r in ranks)
        if apart and reached:
            yield happened


def both_in_top_3(happened: Run, found: Conclusion) -> bool:
    return set(happened.injection.culprits) <= set(named(found)[:3])


def main() -> None:
    options = _options()
    seeds = range(options.first, options.first + options.seeds)
    tallies: dict[str, Tally] = {}
    for hosts in options.hosts:
        for kind in options.kinds:
            runs = single_faults(kind, seeds, hosts)
            _count(tallies, kind, runs, hosts, partial(is_right, kind))
        lost = single_faults("hang_compute", seeds, hosts, missing_dumps=_MISSING_SHARE)
        _count(tallies, "20 % missing", lost, hosts, partial(is_right, "hang_compute"))
        _count(tallies, "two faults", two_faults(seeds, hosts), hosts, both_in_top_3)
    for name, tally in tallies.items():
        wrong = f"  not: {', '.join(tally.wrong[:8])}" if tally.wrong else ""
        sys.stdout.write(
            f"{name:20s} {tally.right:4d} of {tally.of:4d}  {tally.share:.3f}{wrong}\n"
        )
    single = [tally for name, tally in tallies.items() if name in SCENARIOS]
    right, of = sum(t.right for t in single), sum(t.of for t in single)
    sys.stdout.write(f"{'single faults':20s} {right:4d} of {of:4d}  {right / max(of, 1):.3f}\n")


def _count(
    tallies: dict[str, Tally],
    name: str,
    runs: Iterator[Run],
    hosts: int,
    right: Callable[[Run, Conclusion], bool],
) -> None:
    started, tally = perf_counter(), tallies.setdefault(name, Tally())
    for happened in runs:
        found = judge(happened)
        tally.add(f"{happened.job.seed}/{hosts}", right=right(happened, found))
    spent = perf_counter() - started
    sys.stderr.write(f"{name}, {hosts} hosts: {tally.right}/{tally.of} in {spent:.0f} s\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1000, help="rules were mended on others")
    parser.add_argument("--hosts", type=int, nargs="+", default=list(HOSTS))
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    return parser.parse_args()


if __name__ == "__main__":
    main()
