"""Opening incidents, and which report joins which."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from incidents.choices import IncidentKind, Resolution, Role, Severity
from incidents.exceptions import InvalidInput, NotAllowed
from incidents.models import Event, Incident
from incidents.services import incidents
from tests.factories import (
    AttemptFactory,
    HostFactory,
    JobFactory,
    RankPlacementFactory,
    actor,
)

pytestmark = pytest.mark.django_db


def report(**given) -> tuple[Incident, bool]:
    return incidents.open_incident(actor=actor(), **{"title": "NCCL timeout", **given})


def at(hour: int) -> datetime:
    return datetime(2025, 3, 1, hour, tzinfo=UTC)


def test_many_ranks_reporting_one_hang_make_one_incident():
    attempt = AttemptFactory()
    found = {report(attempt=attempt, title=f"rank {rank}")[0].pk for rank in range(64)}
    assert len(found) == 1


def test_a_report_with_the_key_of_an_open_incident_joins_it():
    first, opened = report(dedup_key="watchdog/42")
    second, opened_again = report(dedup_key="watchdog/42")
    assert (first, opened, opened_again) == (second, True, False)


def test_other_keys_and_reports_without_any_stay_apart():
    found = {report(**given)[0].pk for given in ({"dedup_key": "a"}, {"dedup_key": "b"}, {}, {})}
    assert len(found) == 4


def test_a_key_may_come_again_after_the_incident_is_resolved():
    first, _ = report(dedup_key="k")
    incidents.resolve(actor=actor(), incident=first, resolution=Resolution.FALSE_ALARM)
    assert report(dedup_key="k") != (first, False)


def test_another_attempt_is_another_incident():
    job = JobFactory()
    first, second = (report(attempt=AttemptFactory(job=job))[0] for _ in range(2))
    assert first != second


def test_a_report_that_was_over_before_the_open_incident_began_is_its_own():
    attempt = AttemptFactory()
    report(attempt=attempt, onset_at=at(12))
    _, opened = report(attempt=attempt, onset_at=at(8), ended_at=at(9))
    assert opened


def test_a_report_whose_time_overlaps_joins_and_moves_the_onset_back():
    attempt = AttemptFactory()
    first, _ = report(attempt=attempt, onset_at=at(12))
    _, opened = report(attempt=attempt, onset_at=at(11), ended_at=at(13))
    first.refresh_from_db()
    assert (opened, first.onset_at) == (False, at(11))


@pytest.mark.parametrize(
    ("kinds", "grown"),
    [
        (("hang", "crash"), "crash"),
        (("degradation", "hang"), "hang"),
        (("crash", "hang"), "crash"),
        (("none", "degradation"), "degradation"),
    ],
)
def test_the_kind_may_only_grow(kinds: tuple[str, str], grown: str):
    attempt = AttemptFactory()
    for kind in kinds:
        incident, _ = report(attempt=attempt, kind=IncidentKind(kind))
    assert incident.kind == grown


def test_the_worst_severity_stands():
    for severity in (Severity.LOW, Severity.CRITICAL, Severity.MEDIUM):
        incident, _ = report(dedup_key="k", severity=severity)
    assert incident.severity == Severity.CRITICAL


def test_hosts_are_gathered_whatever_their_spelling():
    report(dedup_key="k", hosts=["node-1", "node-2"])
    incident, _ = report(dedup_key="k", hosts=["NODE-2.example.org", "node-3"])
    assert [host.name for host in incident.hosts.all()] == ["node-1", "node-2", "node-3"]


def test_the_gpus_at_stake_are_those_that_the_attempt_placed():
    place = RankPlacementFactory()
    incident, _ = report(attempt=place.attempt)
    assert (incident.gpu_count, incident.job) == (1, place.attempt.job)


def test_an_incident_of_a_job_is_in_the_jobs_cluster():
    job = JobFactory()
    assert report(job=job, cluster="elsewhere")[0].cluster == job.cluster


def test_opening_and_joining_each_leave_one_event():
    incident, _ = report(dedup_key="k")
    report(dedup_key="k")
    verbs = list(Event.objects.filter(incident=incident).values_list("verb", flat=True))
    assert verbs == ["incident.opened", "incident.joined"]


def test_an_incident_without_title_is_refused():
    with pytest.raises(InvalidInput):
        report(title="  ")


def test_a_viewer_opens_nothing():
    with pytest.raises(NotAllowed):
        incidents.open_incident(actor=actor(Role.VIEWER), title="x")
    assert not Incident.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_reports_in_the_same_moment_make_one_incident():
    if connection.vendor == "sqlite":
        pytest.skip("threads cannot write to SQLite in memory at once; runs on PostgreSQL")
    start = threading.Barrier(6)
    failures: list[Exception] = []

    def send() -> None:
        try:
            start.wait()
            report(dedup_key="storm")
        except Exception as error:  # noqa: BLE001 - told below, in the thread that may fail a test
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert Incident.objects.filter(dedup_key="storm").count() == 1


def test_an_incident_of_an_attempt_that_has_ended_burns_nothing():
    now = timezone.now()
    attempt = AttemptFactory(started_at=now - timedelta(hours=2), ended_at=now)
    RankPlacementFactory(attempt=attempt)
    incident, _ = report(attempt=attempt)
    assert (incident.gpu_count, incident.gpus_freed_at, incident.burns) == (1, now, False)


def test_hosts_that_one_cluster_alone_knows_say_the_cluster():
    host = HostFactory(cluster__name="demo", name="node-001")
    incident, _ = report(hosts=["NODE-001.example"])
    assert incident.cluster == host.cluster
    assert list(incident.hosts.all()) == [host]


def test_hosts_of_two_clusters_or_of_none_are_of_the_default_one():
    first, second = HostFactory(name="node-001"), HostFactory(name="node-002")
    assert report(hosts=["node-001", "node-002"])[0].cluster.name == "default"
    assert report(hosts=["node-001", "node-003"])[0].cluster.name == "default"
    HostFactory(name="node-001")
    assert report(hosts=["node-001"])[0].cluster not in {first.cluster, second.cluster}
