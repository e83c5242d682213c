"""NCCL's RAS service tells how far ranks are: of jobs that report nothing, and beside reports."""

import pytest
from django.core.exceptions import ValidationError

from diagnosis.core.placement import Placement, RankPlace
from diagnosis.models import JobWatch, LiveState, MetricSource, SourceKind
from incidents.choices import IncidentKind
from incidents.models import Incident
from tests.diagnosis.sources.ras_service import answer, rank, ras_service
from tests.diagnosis.watched import Watched, beat_at, running_attempt
from tests.ports import dead_port

pytestmark = pytest.mark.django_db

START = 1_780_000_000.0
HOST = "127.0.0.1"
PLACEMENT = Placement.of(RankPlace(r, HOST, local_rank=r, gpu=r) for r in range(4))


def source(port: int) -> MetricSource:
    return MetricSource.objects.create(name="ras", kind=SourceKind.NCCL_RAS, url=str(port))


def beats(counts: list[list[int]]) -> None:
    """One look a minute, each at a service that tells these launches of the four ranks."""
    for minute, told in enumerate(counts):
        ranks = [rank(number, HOST, number, launched) for number, launched in enumerate(told)]
        with ras_service(answer(("0xaa", ranks, []))) as service:
            MetricSource.objects.update(url=str(service.port))
            for second in range(0, 60, 10):
                beat_at(START + 60 * minute + second)


def test_a_rank_whose_launches_stop_is_named():
    running_attempt(PLACEMENT, start=START - 600)
    source(1)

    beats([[10] * 4, [20] * 4, [30] * 4, [40] * 4, [51, 51, 50, 51], *[[51, 51, 50, 51]] * 3])

    incident = Incident.objects.get()
    assert incident.kind == IncidentKind.HANG
    assert incident.diagnoses.all()[0].suspects.get(position=1).target_rank == 2


def test_a_service_that_cannot_be_reached_is_a_note_on_that_job():
    attempt = running_attempt(PLACEMENT, start=START - 600)
    with dead_port() as port:
        source(port)
        for second in range(0, 61, 10):
            beat_at(START + second)

    notes = JobWatch.objects.get(attempt=attempt).coverage["notes"]
    assert any("NCCL RAS" in note and "cannot be reached" in note for note in notes)
    assert not LiveState.objects.exists()


def test_the_address_of_ras_is_a_port():
    with pytest.raises(ValidationError, match="port"):
        MetricSource(name="r", kind=SourceKind.NCCL_RAS, url="http://x").full_clean()


def test_ras_is_asked_beside_reports_that_stand_still_and_one_incident_holds_both():
    attempt = running_attempt(PLACEMENT, start=START - 600)
    told = [{**rank(r, HOST, r, 51 if r != 2 else 50)} for r in range(4)]

    def body(now: float) -> dict[str, object]:
        done = int(min(now, START + 120) - START) + 100
        comms = [{"comm": "dp", "enqueued": done + 1, "completed": done}]
        return {"time": now, "reports": [{"rank": r, "comms": comms} for r in range(4)]}

    with ras_service(answer(("0xaa", told, []))) as service:
        source(service.port)
        Watched(attempt, body).run(START, START + 360)

    incident = Incident.objects.get()
    first = incident.diagnoses.all()[0].suspects.get(position=1)
    assert (first.target_rank, first.role) == (2, "possible")
    assert service.commands.count("VERBOSE STATUS") >= 1


def test_ras_is_not_asked_while_the_reports_of_a_job_move():
    attempt = running_attempt(PLACEMENT, start=START - 600)

    def body(now: float) -> dict[str, object]:
        comms = [{"comm": "dp", "enqueued": int(now - START), "completed": int(now - START)}]
        return {"time": now, "reports": [{"rank": r, "comms": comms} for r in range(4)]}

    with ras_service(answer(("0xaa", [], []))) as service:
        source(service.port)
        Watched(attempt, body).run(START, START + 240)

    assert service.commands == []
