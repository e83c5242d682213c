"""A job as it would run without a fault, and with one."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from diagnosis.core.placement import Placement
from diagnosis.simulator.cluster import Cluster, Host, build_cluster, placement_of
from diagnosis.simulator.layout import Communicator, Layout, default_layout
from diagnosis.simulator.options import Options
from diagnosis.simulator.releases import Release, release_of
from diagnosis.simulator.schedule import Call, Program, programs
from diagnosis.simulator.timeline import Disturbances, Timeline, walk

#: 2026-03-02 08:00:00 UTC; seeds start within the 60 days after it.
_FIRST_START_NS = 1_772_438_400 * 10**9
_DAY_NS = 86_400 * 10**9


@dataclass(frozen=True)
class Job:
    """What is decided before the fault: machines, layout, schedule, and the seed of all chance."""

    scenario: str
    seed: int
    options: Options
    cluster: Cluster
    layout: Layout
    stage_programs: tuple[Program, ...]
    start_ns: int
    first_iteration: int

    @property
    def world(self) -> int:
        return self.layout.world

    @property
    def release(self) -> Release:
        return release_of(self.options.fr_version)

    @cached_property
    def placement(self) -> Placement:
        return placement_of(self.cluster, self.layout)

    def rng(self, purpose: str, *keys: int) -> np.random.Generator:
        """A stream of its own for each purpose, so that no file depends on another's making."""
        return np.random.default_rng([self.seed, zlib.crc32(purpose.encode()), *keys])

    def program_of(self, rank: int) -> Program:
        return self.stage_programs[self.layout.place(rank).stage]

    def communicator_of(self, rank: int, call: Call) -> Communicator:
        return self.layout.communicator(call.axis, rank)

    def host_ns(self, host: Host, seconds: float) -> int:
        """What the host's clock shows, in nanoseconds since the epoch, so long after the start."""
        return self.start_ns + round((seconds + host.skew) * 1e9)

    def true_time(self, seconds: float) -> float:
        """Seconds since the epoch by true time."""
        return self.start_ns / 1e9 + seconds


@dataclass(frozen=True)
class Injection:
    """A scenario's fault, as causes: what stops where, who runs another program, who exits.

    `exits` are processes that end by themselves with that code once they stop. `remote_errors` are
    ranks whose library reports a broken connection so many seconds after the onset. `frozen` ranks
    hang in the kernel, watchdog and all; `no_dump` ranks leave no dump although they live. With
    `requests_dumps` someone asks a job that no watchdog stopped for its dumps, once `dumps_at` of
    its length has passed; 1 is after its end.
    """

    culprits: tuple[int, ...] = ()
    disturbances: Disturbances = field(default_factory=Disturbances)
    edits: Mapping[int, Program] = field(default_factory=dict)
    exits: Mapping[int, int] = field(default_factory=dict)
    exit_delay: float = 0.05
    remote_errors: Mapping[int, float] = field(default_factory=dict)
    frozen: frozenset[int] = frozenset()
    no_dump: frozenset[int] = frozenset()
    requests_dumps: bool = False
    dumps_at: float = 1.0

    @property
    def sources(self) -> tuple[int, ...]:
        """The ranks at which it began, to blame or not."""
        return self.culprits or tuple(self.exits)


def plan_job(scenario: str, *, seed: int, hosts: int, gpus_per_host: int, options: Options) -> Job:
    """The job of these arguments. Raises `ValueError` for sizes that do not fit together."""
    if seed < 0:
        raise ValueError("seed must be at least 0")
    rng = np.random.default_rng([seed, zlib.crc32(b"job")])
    cluster = build_cluster(hosts, gpus_per_host, clock_skew_s=options.clock_skew_s, rng=rng)
    layout = default_layout(hosts * gpus_per_host, gpus_per_host, tp=options.tp, pp=options.pp)
    chosen_ns = _FIRST_START_NS + int(rng.integers(0, 60 * _DAY_NS))
    return Job(
        scenario=scenario,
        seed=seed,
        options=options,
        cluster=cluster,
        layout=layout,
        stage_programs=programs(
            layout, steps=options.steps, checkpoint_every=options.checkpoint_every
        ),
        start_ns=chosen_ns if options.started_at is None else round(options.started_at * 1e9),
        first_iteration=int(rng.integers(1, 400)) * 100 + 1,
    )


def run_job(job: Job, injection: Injection) -> Timeline:
    """Let the ranks of the job walk, with the fault in place."""
    ranks: Sequence[Program] = [
        injection.edits.get(rank, job.program_of(rank)) for rank in range(job.world)
    ]
    spans = [job.cluster.spans_hosts(found.ranks) for found in job.layout.communicators]
    return walk(
        job.layout,
        ranks,
        injection.disturbances,
        spans_hosts=spans,
        run_ahead=job.options.window,
        rng=job.rng("pace"),
    )
