"""Jobs that report nothing: NCCL's RAS service tells how far their ranks are."""

import pytest
from django.core.exceptions import ValidationError

from diagnosis.core.placement import Placement, RankPlace
from diagnosis.models import JobWatch, LiveState, MetricSource, SourceKind
from incidents.choices import IncidentKind
from incidents.models import Incident
from tests.diagnosis.sources.ras_service import answer, rank, ras_service
from tests.diagnosis.watched import beat_at, running_attempt
from tests.prometheus_server import free_port

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
    source(free_port())

    for second in range(0, 61, 10):
        beat_at(START + second)

    notes = JobWatch.objects.get(attempt=attempt).coverage["notes"]
    assert any("NCCL RAS" in note and "cannot be reached" in note for note in notes)
    assert not LiveState.objects.exists()


def test_the_address_of_ras_is_a_port():
    with pytest.raises(ValidationError, match="port"):
        MetricSource(name="r", kind=SourceKind.NCCL_RAS, url="http://x").full_clean()
