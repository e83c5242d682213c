"""Many jobs, one worker: every job judged in time, and once over a gap."""

import statistics
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.conf import settings

from aegis_web.allocator import give_back_what_is_freed
from diagnosis.core.placement import Placement, RankPlace
from diagnosis.models import JobWatch, MetricSource, WatchVerdict
from diagnosis.services import watch, watch_list
from incidents.models import Incident
from tests.diagnosis.fleet_source import FleetSource
from tests.diagnosis.watched import at, beat_at, running_attempt

pytestmark = pytest.mark.django_db

PAGE_BYTES = 4096

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


@dataclass
class Stretch:
    """One worker's work: what each look and each round of looks cost, and what the worker holds.

    Seconds are CPU seconds of the worker, so that others' work does not count: `late` from when a
    look was due until it was done, `rounds` the work of each interval. `resident` are bytes after
    each beat, with the beat's moment.
    """

    late: list[float] = field(default_factory=list)
    rounds: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    resident: dict[float, int] = field(default_factory=dict)
    judged: Counter[int] = field(default_factory=Counter)

    def resident_at(self, moment: float) -> float:
        """Megabytes after the last beat until then."""
        return self.resident[max(at for at in self.resident if at <= moment)] / 2**20


@dataclass
class WorkersClock:
    """A clock that stands where it was set and goes on by the CPU seconds used since."""

    start: float
    since: float = field(default_factory=time.process_time)

    def __call__(self) -> float:
        return self.start + time.process_time() - self.since


def stretch_of(minutes: float, *, jobs: int, hosts: int, ranks_per_host: int) -> Stretch:
    give_back_what_is_freed()  # as workers do
    start_jobs(jobs, hosts, ranks_per_host)
    source, stretch, began = FleetSource.healthy(hosts), Stretch(), NOW
    while began < NOW + 60 * minutes:
        clock = WorkersClock(began)
        watch_list.enrol(now=at(began))
        for pk in watch_list.call_for_due(now=at(began)):
            due = JobWatch.objects.get(pk=pk).next_due_at.timestamp()
            stretch.judged[pk] += watch.judge(pk, now=at(clock()), ask=source)
            stretch.late.append(clock() - due)
        stretch.rounds[int(began - NOW) // settings.WATCH_INTERVAL_SECONDS] += clock() - began
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        stretch.resident[began] = pages * PAGE_BYTES
        began = max(clock(), began + settings.WATCH_TICK_SECONDS)
    return stretch


def assert_in_time_and_flat(stretch: Stretch, *, minutes: float, jobs: int) -> None:
    first, settled, end = (
        stretch.resident_at(NOW + 60 * minute) for minute in (0, minutes / 6, minutes)
    )
    looks, later = min(stretch.judged.values()), list(stretch.rounds.values())[1:]
    print(  # noqa: T201 - the figures are what this is run for
        f"{sum(stretch.judged.values())} looks, at least {looks} a job; done "
        f"{statistics.median(stretch.late):.1f} s after they were due in the median, "
        f"{max(stretch.late):.1f} s at most; the first round took {stretch.rounds[0]:.1f} CPU s, "
        f"a later one {statistics.median(later):.1f} ({max(later):.1f} at most); memory "
        f"{first:.0f} MB at the start, {settled:.0f} MB after {minutes / 6:.0f} min, "
        f"{end:.0f} MB at the end"
    )
    interval = settings.WATCH_INTERVAL_SECONDS
    assert len(stretch.judged) == jobs
    assert max(stretch.late) < interval
    assert looks >= 60 * minutes / interval - 1
    assert end < 1.05 * settled
    assert not Incident.objects.exists()


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_200_jobs_of_64_hosts_keep_their_interval_for_an_hour_in_flat_memory():
    stretch = stretch_of(60, jobs=200, hosts=64, ranks_per_host=8)
    assert_in_time_and_flat(stretch, minutes=60, jobs=200)
