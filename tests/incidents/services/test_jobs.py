"""Registering jobs, attempts and placements."""

from datetime import timedelta

import pytest
from django.utils import timezone

from incidents.choices import IncidentKind, JobState, Role
from incidents.exceptions import InvalidInput, NotAllowed
from incidents.models import Event, Host, Job
from incidents.selectors import change_of
from incidents.services import jobs
from incidents.services.jobs import Layout, PlacedRank
from tests.factories import AttemptFactory, DiagnosisFactory, IncidentFactory, JobFactory, actor

pytestmark = pytest.mark.django_db


def places(ranks: int, per_host: int = 2) -> list[PlacedRank]:
    return [
        PlacedRank(rank=rank, host=f"node-{rank // per_host:03}.cluster.local", gpu=rank % per_host)
        for rank in range(ranks)
    ]


def test_a_job_is_registered_once_and_brought_up_to_date():
    first = jobs.register_job(actor=actor(), external_id="42", source="slurm", owner="ada")
    second = jobs.register_job(
        actor=actor(), external_id="42", source="slurm", layout=Layout(tp_size=8)
    )
    assert first == second
    second.refresh_from_db()
    assert (second.owner, second.tp_size) == ("ada", 8)


def test_the_same_id_in_another_cluster_is_another_job():
    for cluster in ("east", "west"):
        jobs.register_job(actor=actor(), external_id="42", cluster=cluster)
    assert Job.objects.count() == 2


def test_a_job_without_id_is_refused():
    with pytest.raises(InvalidInput) as refused:
        jobs.register_job(actor=actor(), external_id=" ")
    assert refused.value.field == "external_id"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.RESPONDER, Role.TAXONOMIST])
def test_registering_takes_an_operator(role: Role):
    with pytest.raises(NotAllowed):
        jobs.register_job(actor=actor(role), external_id="42")
    assert not Job.objects.exists()


def test_attempts_are_numbered_from_one_and_make_the_job_run():
    job = JobFactory(state=JobState.FAILED)
    numbers = [jobs.start_attempt(actor=actor(), job=job).number for _ in range(2)]
    job.refresh_from_db()
    assert (numbers, job.state) == ([1, 2], JobState.RUNNING)


def test_a_number_that_is_taken_is_refused():
    attempt = AttemptFactory()
    with pytest.raises(InvalidInput):
        jobs.start_attempt(actor=actor(), job=attempt.job, number=attempt.number)


def test_a_placement_registers_each_host_once_whatever_its_spelling():
    attempt = jobs.start_attempt(
        actor=actor(),
        job=JobFactory(),
        placement=[
            PlacedRank(rank=0, host="Node-1"),
            PlacedRank(rank=1, host="node-1.example.org"),
        ],
    )
    assert attempt.placements.count() == 2
    assert [host.name for host in Host.objects.all()] == ["Node-1"]


def test_a_new_placement_replaces_the_old_one_and_recounts_the_gpus_at_stake():
    attempt = jobs.start_attempt(actor=actor(), job=JobFactory(), placement=places(8))
    incident = IncidentFactory(attempt=attempt, gpu_count=8)
    jobs.set_placement(actor=actor(), attempt=attempt, placement=places(4))
    incident.refresh_from_db()
    assert (attempt.placements.count(), incident.gpu_count) == (4, 4)


@pytest.mark.parametrize("before", [0, 8])
def test_a_slow_jobs_share_is_counted_of_the_placement_that_arrives_and_its_page_learns_of_it(
    before: int,
):
    attempt = jobs.start_attempt(actor=actor(), job=JobFactory(), placement=places(before))
    incident = IncidentFactory(
        attempt=attempt, kind=IncidentKind.DEGRADATION, gpu_count=before // 4
    )
    DiagnosisFactory(incident=incident, done=True, coverage={"lost_share": 0.25})
    shown = change_of(incident.pk)
    jobs.set_placement(actor=actor(), attempt=attempt, placement=places(16))
    incident.refresh_from_db()
    assert incident.gpu_count == 4
    assert change_of(incident.pk) != shown


@pytest.mark.parametrize("ranks", [(0, 0), (-1, 0)])
def test_a_placement_with_a_wrong_rank_changes_nothing(ranks: tuple[int, int]):
    attempt = jobs.start_attempt(actor=actor(), job=JobFactory(), placement=places(4))
    wrong = [PlacedRank(rank=rank, host="node-1") for rank in ranks]
    with pytest.raises(InvalidInput):
        jobs.set_placement(actor=actor(), attempt=attempt, placement=wrong)
    assert attempt.placements.count() == 4


def test_a_placement_of_many_ranks_takes_few_queries(django_assert_max_num_queries):
    attempt = AttemptFactory()
    with django_assert_max_num_queries(60):  # SQLite takes 90 rows at a time
        jobs.set_placement(actor=actor(), attempt=attempt, placement=places(4096, per_host=8))


def test_the_end_of_the_last_attempt_ends_the_job():
    attempt = AttemptFactory()
    jobs.end_attempt(actor=actor(), attempt=attempt, outcome=JobState.FAILED)
    attempt.job.refresh_from_db()
    assert attempt.job.state == JobState.FAILED


def test_the_late_end_of_an_earlier_attempt_leaves_the_job_running():
    job = JobFactory()
    first, _ = (jobs.start_attempt(actor=actor(), job=job) for _ in range(2))
    jobs.end_attempt(actor=actor(), attempt=first, outcome=JobState.FAILED)
    job.refresh_from_db()
    assert job.state == JobState.RUNNING


def test_an_attempt_cannot_end_before_it_started():
    attempt = AttemptFactory()
    early = timezone.now() - timedelta(days=1)
    with pytest.raises(InvalidInput):
        jobs.end_attempt(actor=actor(), attempt=attempt, outcome=JobState.COMPLETED, ended_at=early)


def test_running_is_no_way_to_end():
    with pytest.raises(InvalidInput):
        jobs.end_attempt(actor=actor(), attempt=AttemptFactory(), outcome=JobState.RUNNING)


def test_each_write_leaves_one_event_on_the_job():
    job = jobs.register_job(actor=actor(), external_id="42")
    attempt = jobs.start_attempt(actor=actor(), job=job)
    jobs.set_placement(actor=actor(), attempt=attempt, placement=places(2))
    jobs.end_attempt(actor=actor(), attempt=attempt, outcome=JobState.CANCELLED)
    verbs = list(Event.objects.filter(job=job).values_list("verb", flat=True))
    assert verbs == ["job.registered", "attempt.started", "attempt.placed", "attempt.ended"]


def test_the_end_of_an_attempt_stops_the_clock_of_its_incidents():
    began = timezone.now() - timedelta(hours=3)
    attempt = AttemptFactory(started_at=began)
    incident = IncidentFactory(attempt=attempt, gpu_count=16, onset_at=began)
    ended = began + timedelta(hours=1)
    jobs.end_attempt(actor=actor(), attempt=attempt, outcome=JobState.FAILED, ended_at=ended)
    incident.refresh_from_db()
    assert (incident.burns, incident.gpu_hours_lost) == (False, 16)


def test_a_later_attempt_stops_the_clock_of_the_incidents_before():
    began = timezone.now() - timedelta(hours=3)
    attempt = AttemptFactory(number=1)
    incident = IncidentFactory(attempt=attempt, gpu_count=16, onset_at=began)
    again = began + timedelta(minutes=30)
    jobs.start_attempt(actor=actor(), job=attempt.job, started_at=again)
    incident.refresh_from_db()
    assert (incident.burns, incident.gpu_hours_lost) == (False, 8)


def test_the_clock_of_an_attempt_that_goes_on_is_not_stopped():
    earlier = AttemptFactory(number=1)
    running = jobs.start_attempt(actor=actor(), job=earlier.job)
    incident = IncidentFactory(attempt=running, gpu_count=16)
    jobs.end_attempt(actor=actor(), attempt=earlier, outcome=JobState.FAILED)
    incident.refresh_from_db()
    assert incident.burns
