"""A large site on paper: clusters, hosts, jobs with attempts and placements, written in bulk."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.db.models import Model

from incidents.choices import HostState, JobState, Role
from incidents.models import Attempt, Cluster, Host, Job, PaceHour, RankPlacement, User

#: Cluster and its share of the hosts; hosts a ToR group, ToR groups a pod, GPUs a host.
CLUSTERS = {"north": 0.5, "south": 0.3, "lab": 0.2}
TOR, POD, GPUS = 16, 16, 8
MODELS = ("llama-pretrain", "moe-pretrain", "vlm-sft", "speech", "rl-agent", "ablation", "embedder")
OWNERS = tuple(f"{what}-{who}" for what in ("foundation", "vision", "audio", "search", "ads")
               for who in ("models", "research", "platform", "eval", "data", "safety"))  # fmt: skip
#: Hosts of a job and how usual that size is.
_SIZES = {1: 0.35, 2: 0.2, 4: 0.2, 8: 0.12, 16: 0.08, 32: 0.04, 128: 0.01}
_STATES = {
    HostState.IN_SERVICE: 0.965, HostState.SUSPECT: 0.01, HostState.ISOLATED: 0.012,
    HostState.IN_REPAIR: 0.01, HostState.BEING_CHECKED: 0.003,
}  # fmt: skip
_BATCH = 2000


@dataclass(frozen=True, slots=True)
class Site:
    """What incidents happen to: hosts by cluster, jobs with their newest attempt's hosts."""

    hosts: Sequence[Host]
    people: Sequence[User]
    attempts: Sequence[Attempt]
    hosts_of: Sequence[Sequence[Host]]


def write(rows: Iterable[Model]) -> None:
    """Rows of one model into the database, by the batch."""
    found = list(rows)
    if found:
        type(found[0])._default_manager.bulk_create(found, batch_size=_BATCH)


def build(rng: np.random.Generator, *, hosts: int, jobs: int, now: datetime) -> Site:
    """The site, with jobs that began over the last year."""
    people = [User(username=f"engineer-{n:02}", role=Role.RESPONDER) for n in range(24)]
    write(people)
    fleet = _fleet(rng, hosts)
    attempts, hosts_of = _jobs(rng, fleet, jobs, now)
    return Site(fleet, people, attempts, hosts_of)


def _fleet(rng: np.random.Generator, count: int) -> Sequence[Host]:
    clusters = [Cluster(name=name) for name in CLUSTERS]
    write(clusters)
    states = rng.choice(list(_STATES), size=count, p=list(_STATES.values()))
    fleet: list[Host] = []
    for cluster, share in zip(clusters, CLUSTERS.values(), strict=True):
        for number in range(round(count * share)):
            host = Host.named(cluster, f"{cluster.name[0]}-node-{number + 1:04}")
            host.tor = f"tor-{number // TOR + 1:03}"
            host.pod = f"pod-{number // (TOR * POD) + 1:02}"
            host.state = str(states[len(fleet)])
            fleet.append(host)
    write(fleet)
    return fleet


def _jobs(
    rng: np.random.Generator, fleet: Sequence[Host], count: int, now: datetime
) -> tuple[Sequence[Attempt], Sequence[Sequence[Host]]]:
    by_cluster: dict[int, list[Host]] = {}
    for host in fleet:
        by_cluster.setdefault(host.cluster_id, []).append(host)
    sizes = rng.choice(list(_SIZES), size=count, p=list(_SIZES.values()))
    ages = np.sort(rng.uniform(0.2, 365.0, size=count))[::-1]
    clusters = rng.choice(list(by_cluster), size=count, p=list(CLUSTERS.values()))
    jobs = [_job(rng, number, int(clusters[number])) for number in range(count)]
    for job, age in zip(jobs, ages, strict=True):
        job.created_at = now - timedelta(days=float(age))
    write(jobs)
    attempts: list[Attempt] = []
    hosts_of: list[Sequence[Host]] = []
    for job, size, age in zip(jobs, sizes, ages, strict=True):
        pool = by_cluster[job.cluster_id]
        first = int(rng.integers(0, max(1, len(pool) - int(size))))
        for attempt in _attempts(rng, job, float(age), now):
            attempts.append(attempt)
            hosts_of.append(pool[first : first + int(size)])
    write(attempts)
    write(_placements(attempts, hosts_of))
    write(_paces(rng, attempts, now))
    return attempts, hosts_of


def _job(rng: np.random.Generator, number: int, cluster: int) -> Job:
    model = MODELS[int(rng.integers(len(MODELS)))]
    return Job(
        cluster_id=cluster,
        external_id=str(400_000 + number * 7),
        source="slurm",
        name=f"{model}-{number:04}",
        owner=OWNERS[int(rng.integers(len(OWNERS)))],
        framework="PyTorch",
        state=JobState.COMPLETED,
        tp_size=GPUS,
    )


def _attempts(rng: np.random.Generator, job: Job, age: float, now: datetime) -> Iterator[Attempt]:
    """Attempts one after the other; the last one of a young job runs still."""
    began = now - timedelta(days=age)
    count = int(min(rng.geometric(0.4), 12))
    for number in range(1, count + 1):
        ended = began + timedelta(hours=float(rng.exponential(40.0)) + 0.2)
        last = number == count
        runs = last and ended > now - timedelta(days=2)
        yield Attempt(
            job=job,
            number=number,
            started_at=began,
            ended_at=None if runs else min(ended, now),
            outcome=JobState.RUNNING if runs else JobState.COMPLETED if last else JobState.FAILED,
        )
        if runs:
            job.state = JobState.RUNNING
        if ended > now:
            return
        began = ended + timedelta(minutes=float(rng.exponential(25.0)))


def _placements(
    attempts: Sequence[Attempt], hosts_of: Sequence[Sequence[Host]]
) -> Iterator[RankPlacement]:
    for attempt, hosts in zip(attempts, hosts_of, strict=True):
        for place, host in enumerate(hosts):
            for gpu in range(GPUS):
                yield RankPlacement(
                    attempt=attempt, rank=place * GPUS + gpu, host=host, local_rank=gpu, gpu=gpu
                )


def _paces(
    rng: np.random.Generator, attempts: Sequence[Attempt], now: datetime
) -> Iterator[PaceHour]:
    """The pace of every fourth attempt, which is watched."""
    hour = timedelta(hours=1)
    for attempt in attempts[::4]:
        began, ended = attempt.started_at, attempt.ended_at or now
        first = began.replace(minute=0, second=0, microsecond=0)
        for number in range(int((ended - first) / hour)):
            excess = 40.0 if rng.random() < 0.05 else 0.0
            yield PaceHour(
                attempt=attempt,
                hour=first + number * hour,
                iterations=900.0,
                seconds=3600.0,
                excess_s=excess,
            )
