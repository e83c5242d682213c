"""The watch and progress reports: a job that stops, and jobs that only pause."""

import pytest
from django.utils import timezone

from diagnosis.models import WatchVerdict
from diagnosis.readers.progress_reports import read_reports
from diagnosis.services.progress import take_reports
from diagnosis.simulator.progress import LiveJob, Pause
from diagnosis.simulator.scenarios import simulate
from incidents.choices import IncidentKind, IncidentStatus, Resolution
from incidents.models import Incident
from incidents.services.incidents import resolve
from incidents.services.jobs import JobState, end_attempt
from tests.diagnosis.watched import ROBOT, Watched, at, beat_at, running_attempt

pytestmark = pytest.mark.django_db

START = 1_780_000_000.0


def live_job(scenario: str, *, hosts: int = 2, moves_for: float = 300.0, **more) -> LiveJob:
    run = simulate(scenario, seed=7, hosts=hosts).run
    return LiveJob.that_stops_after(run, start=START, seconds=moves_for, **more)


def watched(job: LiveJob, **more) -> Watched:
    attempt = running_attempt(job.run.job.placement, start=START)
    return Watched(attempt, job.body, **more)


def test_512_ranks_that_stop_on_one_open_one_incident_that_names_it_within_three_minutes():
    job = live_job("hang_compute", hosts=64)
    watch = watched(job)

    opened = watch.run(START, job.stops_at + 420)

    (incident,) = Incident.objects.all()
    (culprit,) = job.run.injection.culprits
    suspect = incident.diagnoses.get().suspects.get(position=1)
    assert suspect.target_rank == culprit
    assert suspect.role == "culprit"
    assert incident.kind == IncidentKind.HANG
    assert opened is not None
    assert opened - job.stops_at <= 180


@pytest.mark.parametrize("phase", ["checkpoint", "train"])
def test_a_checkpoint_of_nine_minutes_opens_nothing(phase: str):
    job = live_job("hang_compute", moves_for=900, pauses=[Pause(at=300, seconds=540, phase=phase)])
    watch = watched(job)

    assert watch.run(START, START + 300 + 540 + 120) is None


def test_a_checkpoint_of_twelve_minutes_is_a_hang():
    job = live_job("hang_compute", moves_for=900, pauses=[Pause(at=300, seconds=720)])
    watch = watched(job)

    opened = watch.run(START, START + 300 + 720)

    assert opened is not None
    assert opened - (START + 300) > 600


def test_reports_that_stop_coming_are_stale_and_open_nothing():
    job = live_job("hang_compute", moves_for=900)
    watch = watched(job)
    watch.run(START, START + 300)
    watch.body = None

    assert watch.run(START + 310, START + 1200) is None
    assert watch.watch.verdict == WatchVerdict.CANNOT_TELL
    assert "old" in watch.watch.summary


def test_a_job_that_moves_again_closes_its_incident():
    job = live_job("hang_compute", moves_for=3000, pauses=[Pause(300, 240, phase="train")])
    stuck = job.body(START + 320)
    stuck_rank = stuck["reports"][3]
    for comm in stuck_rank["comms"]:
        comm["enqueued"] = comm["started"] = comm["completed"]
    for report in stuck["reports"]:
        if report is not stuck_rank:
            for comm in report["comms"]:
                comm["enqueued"] = comm["started"] = comm["completed"] + 1

    def body(now: float) -> object:
        if START + 300 <= now < START + 540:
            return {**stuck, "time": now}
        return job.body(now)

    watch = watched(job)
    watch.body = body

    assert watch.run(START, START + 530) is not None
    watch.run(START + 540, START + 760)

    incident = Incident.objects.get()
    assert incident.status == IncidentStatus.RESOLVED
    assert incident.resolution == Resolution.RECOVERED
    assert watch.watch.incident is None


def test_an_incident_that_a_person_closed_is_not_opened_again_while_it_lasts():
    job = live_job("hang_compute")
    watch = watched(job)
    watch.run(START, job.stops_at + 200)
    resolve(actor=ROBOT, incident=Incident.objects.get(), resolution=Resolution.USER_CODE)

    watch.run(job.stops_at + 210, job.stops_at + 600)

    assert Incident.objects.count() == 1


def test_after_a_gap_of_ten_minutes_nothing_is_opened_about_what_has_passed():
    job = live_job("hang_compute", moves_for=3000, pauses=[Pause(300, 300, phase="train")])
    watch = watched(job)
    watch.run(START, START + 290)
    judged = watch.watch.judgements
    for now in range(int(START) + 300, int(START) + 900, 30):
        take_reports(
            actor=ROBOT, attempt=watch.attempt, batch=read_reports(job.body(now)), now=at(now)
        )

    beat_at(START + 900)
    beat_at(START + 905)

    assert watch.watch.judgements == judged + 1
    assert not Incident.objects.exists()


def test_an_attempt_that_ended_is_watched_no_longer():
    job = live_job("hang_compute")
    watch = watched(job)
    watch.run(START, START + 120)
    end_attempt(
        actor=ROBOT, attempt=watch.attempt, outcome=JobState.COMPLETED, ended_at=at(START + 125)
    )

    assert beat_at(START + 300) == []
    assert watch.watch.verdict == WatchVerdict.ENDED


def test_a_first_step_of_twenty_minutes_opens_nothing():
    run = simulate("hang_compute", seed=7, hosts=2).run
    job = LiveJob.that_stops_after(run, start=START, seconds=900, pauses=[Pause(0, 1200, "init")])
    watch = watched(job)

    assert watch.run(START, START + 1180) is None
    assert timezone.is_aware(watch.watch.judged_at)
