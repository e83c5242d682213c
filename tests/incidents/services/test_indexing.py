"""What an incident is found by, as services keep it."""

import pytest
from django.utils import timezone

from incidents.filters import IncidentFilter
from incidents.models import Device, FaultRecord, Incident
from incidents.services import incidents
from incidents.services.correcting import Correction
from incidents.services.indexing import index_devices
from incidents.services.tickets import link_ticket
from tests.factories import DiagnosisFactory, HostFactory, IncidentFactory, JobFactory, actor

pytestmark = pytest.mark.django_db


def found(query: str) -> list[Incident]:
    return list(IncidentFilter({"q": query}, queryset=Incident.objects.all()).qs)


def opened(title: str = "it hangs", **given) -> Incident:
    incident, _ = incidents.open_incident(actor=actor(), title=title, **given)
    return incident


def test_an_opened_incident_is_found_by_title_host_job_and_key():
    job = JobFactory(name="llm-70b-pretrain", external_id="48211", owner="alice")
    incident = opened(job=job, hosts=["node-017"], dedup_key="OPS-77")
    opened("something else")
    for query in ("hangs", "NODE-017.local", "017", "70b-pre", "48211", "alice", "ops-77"):
        assert found(query) == [incident], query


def test_every_word_of_a_query_has_to_be_there():
    incident = opened("uncorrectable ECC error")
    opened("corrected ECC error")
    assert found("ecc uncorr") == [incident]


@pytest.mark.parametrize("query", ["***", "%", "_", "nothing"])
def test_what_is_nowhere_finds_nothing(query: str):
    opened()
    assert found(query) == []


def test_a_note_a_ticket_and_a_corrected_title_are_found():
    incident = opened()
    incidents.add_note(actor=actor(), incident=incident, text="swapped the **riser**")
    link_ticket(actor=actor(), incident=incident, key="RMA-5", system="vendor")
    incidents.correct(
        actor=actor(), incident=incident, correction=Correction(title="allreduce stalls")
    )
    for query in ("riser", "rma-5", "allreduce"):
        assert found(query) == [incident], query


def test_a_part_is_found_by_its_serial_number_and_uuid():
    incident, other = IncidentFactory(), IncidentFactory()
    device = Device.objects.create(kind="gpu", serial="1654235842238", uuid="GPU-fc79d2be-7a4d")
    FaultRecord.objects.create(
        incident=incident,
        diagnosis=DiagnosisFactory(incident=incident, done=True),
        host=HostFactory(),
        device=device,
        first_at=timezone.now(),
        last_at=timezone.now(),
    )
    index_devices(incident)
    assert found("1654235842238") == [incident]
    assert found("gpu-fc79d2be") == [incident]
    assert other not in found("165423")
