"""Many jobs, one worker: every job judged in time, and once over a gap."""

import time
from collections import Counter

import pytest
from django.conf import settings

from diagnosis.core.placement import Placement, RankPlace
from diagnosis.models import JobWatch, MetricSource, WatchVerdict
from incidents.models import Incident
from tests.diagnosis.fleet_source import FleetSource
from tests.diagnosis.watched import at, beat_at, running_attempt

pytestmark = pytest.mark.django_db

START = 1_780_000_000.0
NOW = START + 7200


def start_jobs(jobs: int, hosts: int, ranks_per_host: int) -> None:
    MetricSource.objects.create(name="prometheus", url="http://metrics.invalid")
    for job in range(jobs):
        places = (
            RankPlace(rank, f"job{job}-node-{rank // ranks_per_host:03d}")
            for rank in range(hosts * ranks_per_host)
        )
        running_attempt(Placement.of(places), start=START, name=f"job-{job}")


def worker_for(seconds: float, *, since: float, ask: FleetSource) -> Counter[int]:
    """One worker on a clock that its own work drives: how often each attempt was judged."""
    judged: Counter[int] = Counter()
    now = since
    while now < since + seconds:
        began = time.perf_counter()
        judged.update(beat_at(now, ask=ask))
        now += max(time.perf_counter() - began, settings.WATCH_TICK_SECONDS)
    return judged


def judge_and_stop_and_judge(jobs: int, hosts: int, ranks_per_host: int) -> None:
    """The whole story: two intervals of work, ten minutes without a worker, two more intervals."""
    start_jobs(jobs, hosts, ranks_per_host)
    source = FleetSource.healthy(hosts)
    interval = settings.WATCH_INTERVAL_SECONDS

    judged = worker_for(2 * interval, since=NOW, ask=source)
    assert len(judged) == jobs
    assert set(JobWatch.objects.values_list("verdict", flat=True)) == {WatchVerdict.HEALTHY}

    after = NOW + 2 * interval + 600
    began = time.perf_counter()
    first = Counter(beat_at(after, ask=source))
    took = time.perf_counter() - began
    assert set(first.values()) == {1}
    assert len(first) == jobs
    assert took < 2 * interval
    assert not JobWatch.objects.filter(seen_until__lt=at(after - 45)).exists()
    assert not Incident.objects.exists()


def test_twenty_jobs_are_judged_within_two_intervals_and_once_over_a_gap():
    judge_and_stop_and_judge(jobs=20, hosts=16, ranks_per_host=1)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_200_jobs_of_64_hosts_are_judged_within_two_intervals_and_once_over_a_gap():
    judge_and_stop_and_judge(jobs=200, hosts=64, ranks_per_host=8)
