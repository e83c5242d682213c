"""Opening an incident by hand."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from incidents.models import Incident
from tests.factories import AttemptFactory, IncidentFactory

JSON = {"Accept": "application/json"}


def test_the_plain_form_makes_incident_evidence_and_run_in_one_go(responder: Client):
    files = [SimpleUploadedFile("rank-0.log", b"x"), SimpleUploadedFile("rank-1.log", b"y")]
    response = responder.post(
        "/incidents/new", {"title": "It hangs", "kind": "hang", "files": files}
    )
    incident = Incident.objects.get()
    assert response["Location"] == f"/incidents/{incident.pk}"
    assert (incident.title, incident.kind) == ("It hangs", "hang")
    assert (incident.evidence.count(), incident.diagnoses.count()) == (2, 1)


def test_a_script_is_told_where_to_send_the_files(responder: Client):
    body = {"title": "", "kind": "none", "to_come": "2"}
    answer = responder.post("/incidents/new", body, headers=JSON).json()
    incident = Incident.objects.get()
    assert answer == {
        "page": f"/incidents/{incident.pk}",
        "upload": f"/incidents/{incident.pk}/evidence",
    }


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"kind": "crash", "severity": "critical"},
        {"kind": "none", "title": "  "},
        {"kind": "none", "to_come": "0"},
    ],
)
def test_one_that_tells_nothing_is_refused_with_what_to_do(given, responder: Client):
    response = responder.post("/incidents/new", given)
    assert (response.status_code, Incident.objects.count()) == (422, 0)
    assert given.get("kind") is None or "drop files" in response.content.decode()


def test_files_alone_are_enough_to_open_one(responder: Client):
    responder.post(
        "/incidents/new", {"kind": "none", "files": SimpleUploadedFile("rank-0.log", b"x")}
    )
    assert Incident.objects.get().title == "Untitled incident"


def test_a_registered_attempt_gives_its_jobs_name(responder: Client):
    attempt = AttemptFactory(job__name="llama")
    responder.post("/incidents/new", {"kind": "none", "attempt": attempt.pk})
    incident = Incident.objects.get()
    assert (incident.title, incident.attempt) == ("llama", attempt)


def test_the_open_incident_of_an_attempt_is_joined(responder: Client):
    attempt = AttemptFactory()
    known = IncidentFactory(attempt=attempt, job=attempt.job, cluster=attempt.job.cluster)
    response = responder.post(
        "/incidents/new", {"kind": "none", "attempt": attempt.pk}, follow=True
    )
    assert Incident.objects.count() == 1
    assert f"Joined {known.reference}" in response.content.decode()


def test_a_wrong_value_is_named_beside_its_field(responder: Client):
    response = responder.post("/incidents/new", {"kind": "explosion"})
    assert response.status_code == 422
    assert "explosion is not one of the available choices" in response.content.decode()


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_viewer_cannot_open_one(method: str, viewer: Client):
    response = getattr(viewer, method)("/incidents/new", {"kind": "none"})
    assert (response.status_code, Incident.objects.count()) == (403, 0)


def test_the_severity_is_chosen_or_medium(responder: Client):
    responder.post("/incidents/new", {"title": "a", "kind": "none", "severity": "critical"})
    responder.post("/incidents/new", {"title": "b", "kind": "none"})
    assert list(Incident.objects.order_by("id").values_list("severity", flat=True)) == [
        "critical",
        "medium",
    ]
