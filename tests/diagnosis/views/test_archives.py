"""The log around a finding is shown though its file lies in an archive."""

import io
from collections.abc import Mapping

import pytest
from django.test import Client

from diagnosis.services.run import run
from incidents.models import Evidence, Incident
from incidents.services.evidence import attach_evidence
from tests.diagnosis.readers.test_archives import FATAL, tar, zipped
from tests.factories import DiagnosisFactory, IncidentFactory, UserFactory, actor

LOG = b"".join(b"[ %d.0] line %d\n" % (second, second) for second in range(1, 60)) + FATAL
FILES = {"all/node-004/dmesg": LOG, "all/node-003/<b>.log": b"[ 1.0] started\n"}


@pytest.fixture
def incident(db) -> Incident:
    made: Incident = IncidentFactory()
    return made


@pytest.fixture
def person(db) -> Client:
    client = Client()
    client.force_login(UserFactory())
    return client


def handed_in(incident: Incident, content: bytes, name: str = "night.zip") -> Evidence:
    evidence, _ = attach_evidence(
        actor=actor(), incident=incident, name=name, stream=io.BytesIO(content)
    )
    return evidence


def inside(client: Client, evidence: Evidence, asked: Mapping[str, str], **headers: str) -> str:
    address = f"/evidence/{evidence.pk}/inside"
    return client.get(address, asked, headers=headers).content.decode()


@pytest.mark.parametrize("content", [tar(FILES), zipped(FILES), zipped({"in.tgz": tar(FILES)})])
def test_the_incidents_page_leads_from_a_finding_to_its_line_in_the_archive(
    content: bytes, person: Client, incident: Incident
):
    handed_in(incident, content)
    assert run(DiagnosisFactory(incident=incident).pk)

    proof = person.get(f"/incidents/{incident.pk}").context["proof"]
    address = proof.suspects[0].speaks_for[0].address
    page = person.get(f"{address}line=60").content.decode()

    assert "<mark>[ 90.5] NVRM: Xid" in page
    assert ">[ 59.0] line 59<" in page


def test_beside_a_finding_a_few_lines_are_given_that_lead_on(person: Client, incident: Incident):
    evidence = handed_in(incident, zipped(FILES))
    asked = {"file": "night.zip/all/node-004/dmesg", "line": "30"}
    page = inside(person, evidence, asked, **{"HX-Request": "true"})
    assert (page.count("<li"), "<html" in page) == (14, False)
    assert "inside?file=night.zip%2Fall%2Fnode-004%2Fdmesg&amp;line=30#L30" in page


def test_a_second_archive_of_one_name_is_looked_into_as_findings_call_it(
    person: Client, incident: Incident
):
    evidence = handed_in(incident, zipped(FILES))
    page = inside(person, evidence, {"file": "2/night.zip/all/node-004/dmesg", "line": "60"})
    assert "<mark>[ 90.5]" in page


@pytest.mark.parametrize("path", ["night.zip/none", "none", "", "night.zip/../../secret-key"])
def test_a_file_that_is_not_in_the_archive_is_told_in_words(
    path: str, person: Client, incident: Incident
):
    page = inside(person, handed_in(incident, zipped(FILES)), {"file": path, "line": "3"})
    assert "These lines were not reached: the archive has no file" in page


def test_a_file_that_is_no_archive_is_told_in_words(person: Client, incident: Incident):
    evidence = handed_in(incident, LOG, "dmesg.log")
    page = inside(person, evidence, {"file": "dmesg.log/x", "line": "3"})
    assert "These lines were not reached" in page


def test_names_and_lines_are_shown_as_text(person: Client, incident: Incident):
    evidence = handed_in(incident, zipped({"<b>.log": b"<script>1</script>\n"}))
    page = inside(person, evidence, {"file": "night.zip/<b>.log", "line": "1"})
    assert "&lt;script&gt;1" in page
    assert "<b>.log" not in page
