"""The watch and progress reports: a job that stops, and jobs that only pause."""

from typing import Any

import pytest

from diagnosis.models import WatchVerdict
from diagnosis.simulator.progress import LiveJob, Pause
from diagnosis.simulator.scenarios import simulate
from incidents.choices import IncidentKind, IncidentStatus, JobState, Resolution
from incidents.models import Incident
from incidents.services.incidents import open_incident, resolve
from incidents.services.jobs import end_attempt
from tests.diagnosis.watched import ROBOT, Watched, at, beat_at, running_attempt

pytestmark = pytest.mark.django_db

START = 1_780_000_000.0


def live_job(*, hosts: int = 1, moves_for: float = 300.0, pause: Pause | None = None) -> LiveJob:
    """A job that hangs on one rank once it has moved for so long."""
    run = simulate("hang_compute", seed=7, hosts=hosts).run
    pauses = [pause] if pause else []
    return LiveJob.that_stops_after(run, start=START, seconds=moves_for, pauses=pauses)


def watched(job: LiveJob) -> Watched:
    return Watched(running_attempt(job.run.job.placement, start=START), job.body)


def stuck_for(job: LiveJob, *, since: float, until: float) -> Any:
    """Bodies of the job in which rank 3 does not arrive between the two times."""
    still: Any = job.body(since + 20)
    for report in still["reports"]:
        for comm in report["comms"]:
            ahead = 0 if report["rank"] == 3 else 1
            comm["enqueued"] = comm["started"] = comm["completed"] + ahead
    return lambda now: {**still, "time": now} if since <= now < until else job.body(now)


def test_512_ranks_that_stop_on_one_open_one_incident_that_names_it_within_three_minutes():
    job = live_job(hosts=64)

    opened = watched(job).run(START, job.stops_at + 360)

    incident = Incident.objects.get()
    suspect = incident.diagnoses.get().suspects.get(position=1)
    assert (suspect.target_rank,) == job.run.injection.culprits
    assert suspect.role == "culprit"
    assert incident.kind == IncidentKind.HANG
    assert opened is not None
    assert opened - job.stops_at <= 180


@pytest.mark.parametrize("phase", ["checkpoint", "train"])
def test_a_checkpoint_of_nine_minutes_opens_nothing_whether_it_is_told_or_not(phase: str):
    job = live_job(moves_for=900, pause=Pause(at=300, seconds=540, phase=phase))

    assert watched(job).run(START, START + 300 + 540 + 120) is None


def test_a_checkpoint_of_twelve_minutes_is_a_hang():
    job = live_job(moves_for=900, pause=Pause(at=300, seconds=720))

    opened = watched(job).run(START, START + 300 + 720)

    assert opened is not None
    assert opened - (START + 300) > 600


def test_a_first_step_of_twenty_minutes_opens_nothing():
    job = live_job(moves_for=900, pause=Pause(at=0, seconds=1200, phase="init"))

    assert watched(job).run(START, START + 1180) is None


def test_reports_that_stop_coming_are_stale_and_open_nothing():
    watch = watched(live_job(moves_for=900))
    watch.run(START, START + 300)
    watch.body = None

    assert watch.run(START + 320, START + 900) is None
    assert watch.watch.verdict == WatchVerdict.CANNOT_TELL
    assert "old" in watch.watch.summary


def test_a_job_that_moves_again_closes_its_incident():
    watch = watched(live_job(moves_for=3000))
    watch.body = stuck_for(live_job(moves_for=3000), since=START + 300, until=START + 540)

    assert watch.run(START, START + 520) is not None
    watch.run(START + 540, START + 760)

    incident = Incident.objects.get()
    assert incident.status == IncidentStatus.RESOLVED
    assert incident.resolution == Resolution.RECOVERED
    assert watch.watch.incident is None


def test_trouble_of_the_same_host_that_comes_back_soon_is_the_same_incident():
    job = live_job(moves_for=3000)
    watch = watched(job)
    watch.body = stuck_for(job, since=START + 300, until=START + 480)
    watch.run(START, START + 700)
    watch.body = stuck_for(job, since=START + 720, until=START + 960)

    watch.run(START + 720, START + 940)

    incident = Incident.objects.get()
    assert incident.status == IncidentStatus.TRIGGERED
    assert incident.events.filter(verb="incident.reopened").exists()


def test_an_incident_that_a_person_closed_is_not_opened_again_while_it_lasts():
    job = live_job()
    watch = watched(job)
    watch.run(START, job.stops_at + 180)
    resolve(actor=ROBOT, incident=Incident.objects.get(), resolution=Resolution.USER_CODE)

    watch.run(job.stops_at + 200, job.stops_at + 500)

    assert Incident.objects.count() == 1


def test_a_hang_joins_the_incident_that_someone_opened_for_the_attempt():
    job = live_job()
    watch = watched(job)
    opened, _ = open_incident(actor=ROBOT, title="it is slow", attempt=watch.attempt)

    watch.run(START, job.stops_at + 180)

    opened.refresh_from_db()
    assert Incident.objects.count() == 1
    assert opened.kind == IncidentKind.HANG
    assert opened.suspect_name.startswith("node-")


def test_what_someone_else_opened_gets_a_note_on_recovery_and_stays_theirs_to_close():
    job = live_job(moves_for=3000)
    watch = watched(job)
    watch.body = stuck_for(job, since=START + 300, until=START + 480)
    opened, _ = open_incident(actor=ROBOT, title="it hangs", attempt=watch.attempt)

    watch.run(START, START + 700)

    opened.refresh_from_db()
    assert opened.status == IncidentStatus.TRIGGERED
    assert opened.events.filter(verb="incident.noted", text__contains="moves again").exists()


def test_after_a_gap_of_ten_minutes_nothing_is_opened_about_what_has_passed():
    watch = watched(live_job(moves_for=3000))
    watch.body = stuck_for(live_job(moves_for=3000), since=START + 300, until=START + 600)
    watch.run(START, START + 280)
    judged = watch.watch.judgements
    watch.report(START + 300, START + 900)

    beat_at(START + 900)
    beat_at(START + 900.5)

    assert watch.watch.judgements == judged + 1
    assert not Incident.objects.exists()


def test_an_attempt_that_ended_is_watched_no_longer():
    watch = watched(live_job())
    watch.run(START, START + 120)
    end_attempt(
        actor=ROBOT, attempt=watch.attempt, outcome=JobState.COMPLETED, ended_at=at(START + 125)
    )

    assert beat_at(START + 300) == []
    assert watch.watch.verdict == WatchVerdict.ENDED
