"""Handing in evidence through the browser, reading around a line, and taking it away again."""

import bz2
import gzip
import io
import json
import lzma

import pytest
import zstandard
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from incidents.choices import Role
from incidents.models import Evidence, Incident
from incidents.services.aside import purge
from incidents.services.evidence import attach_evidence
from tests.factories import (
    DiagnosisFactory,
    FindingFactory,
    IncidentFactory,
    SuspectFactory,
    actor,
)

HTMX = {"HX-Request": "true"}


@pytest.fixture
def incident(db) -> Incident:
    made: Incident = IncidentFactory()
    return made


def stored(incident: Incident, content: bytes, name: str = "node-001.log") -> Evidence:
    evidence, _ = attach_evidence(
        actor=actor(), incident=incident, name=name, stream=io.BytesIO(content)
    )
    return evidence


def hand_in(client: Client, incident: Incident, *files: tuple[str, bytes], **more):
    uploads = [SimpleUploadedFile(name.rsplit("/", 1)[-1], content) for name, content in files]
    given = {"files": uploads, "path": [name for name, _ in files], **more}
    return client.post(
        f"/incidents/{incident.pk}/evidence", given, headers={"Accept": "application/json"}
    )


def test_lines_near_a_files_start_are_in_the_incidents_page_from_the_start(
    responder: Client, incident: Incident
):
    evidence = stored(incident, b"".join(b"line %d\n" % number for number in range(1, 100)))
    run = DiagnosisFactory(incident=incident, done=True)
    suspect = SuspectFactory(diagnosis=run)
    for offset, line in ((300, 40), (1 << 30, 90)):
        finding = FindingFactory(
            diagnosis=run, evidence=evidence, locator={"line": line, "offset": offset}
        )
        suspect.findings.add(finding)
    proof = responder.get(f"/incidents/{incident.pk}").context["proof"]
    near, far = proof.suspects[0].speaks_for
    assert (near.excerpt.first, near.excerpt.last, far.excerpt) == (35, 48, None)


def test_files_keep_their_path_in_a_folder(responder: Client, incident: Incident):
    hand_in(responder, incident, ("dumps/a/rank_0", b"a"), ("dumps/b/rank_0", b"b"))
    assert list(incident.evidence.values_list("name", flat=True)) == [
        "dumps/a/rank_0",
        "dumps/b/rank_0",
    ]


def test_a_batch_with_more_to_come_asks_for_no_run(responder: Client, incident: Incident):
    hand_in(responder, incident, ("one.log", b"1"), more="1")
    assert incident.diagnoses.count() == 0
    hand_in(responder, incident, ("two.log", b"2"))
    assert incident.diagnoses.count() == 1


def test_a_file_that_is_known_is_told_so(responder: Client, incident: Incident):
    hand_in(responder, incident, ("one.log", b"1"))
    answer = hand_in(responder, incident, ("one.log", b"1")).json()
    assert [one["state"] for one in answer["files"]] == ["known"]


def test_a_file_that_is_refused_stops_none_beside_it(
    responder: Client, incident: Incident, settings
):
    settings.EVIDENCE_MAX_BYTES = 10
    answer = hand_in(responder, incident, ("large.log", b"x" * 11), ("small.log", b"x")).json()
    assert [one["state"] for one in answer["files"]] == ["refused", "stored"]
    assert "larger than" in answer["files"][0]["reason"]


def test_without_scripts_the_form_leads_back_to_the_incident(responder: Client, incident: Incident):
    response = responder.post(
        f"/incidents/{incident.pk}/evidence",
        {"files": [SimpleUploadedFile("one.log", b"1")]},
        follow=True,
    )
    assert "1 of 1 files handed in" in response.content.decode()


def test_no_file_at_all_is_told_so(responder: Client, incident: Incident):
    response = responder.post(f"/incidents/{incident.pk}/evidence", follow=True)
    assert "Choose at least one file" in response.content.decode()


def test_a_viewer_hands_in_nothing(viewer: Client, incident: Incident):
    assert hand_in(viewer, incident, ("one.log", b"1")).status_code == 403
    assert incident.evidence.count() == 0


def test_the_line_is_marked_among_its_neighbours(responder: Client, incident: Incident):
    evidence = stored(incident, b"".join(b"line %d\n" % number for number in range(1, 101)))
    page = responder.get(f"/evidence/{evidence.pk}/excerpt?line=50", headers=HTMX)
    content = page.content.decode()
    assert "<mark>line 50</mark>" in content
    assert "line 45" in content
    assert "line 44" not in content


def test_content_is_shown_as_text(responder: Client, incident: Incident):
    evidence = stored(incident, b"<img src=x onerror=alert(1)>\n")
    content = responder.get(f"/evidence/{evidence.pk}/excerpt?line=1").content.decode()
    assert "<img src=x" not in content
    assert "&lt;img src=x" in content


@pytest.mark.parametrize("line", ["", "x", "-1", "0", "99999999999999999999"])
def test_a_line_number_that_is_none_shows_the_beginning_and_marks_nothing(
    line: str, responder: Client, incident: Incident
):
    evidence = stored(incident, b"first\n")
    page = responder.get(f"/evidence/{evidence.pk}/excerpt", {"line": line}).content.decode()
    assert "first" in page
    assert "<mark>" not in page


def test_an_archive_itself_has_no_lines_to_show(responder: Client, incident: Incident):
    evidence = stored(incident, b"PK\x03\x04", "night.zip")
    Evidence.objects.update(kind="archive")
    page = responder.get(f"/evidence/{evidence.pk}/excerpt?line=3").content.decode()
    assert "findings lead to the lines" in page


def test_binary_content_is_offered_for_download(responder: Client, incident: Incident):
    evidence = stored(incident, b"\x80\x02\x00\x00garbage")
    page = responder.get(f"/evidence/{evidence.pk}/excerpt?line=1").content.decode()
    assert "binary" in page


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.compress])
def test_a_compressed_log_is_read_as_what_it_holds(pack, responder: Client, incident: Incident):
    evidence = stored(incident, pack(b"one\ntwo\n"), "node-001.log.packed")
    page = responder.get(f"/evidence/{evidence.pk}/excerpt?line=2").content.decode()
    assert "<mark>two</mark>" in page


def test_a_download_gives_the_bytes_as_they_were_and_is_never_rendered(
    responder: Client, incident: Incident
):
    content = b"<script>alert(1)</script>\x00\xff"
    response = responder.get(f"/evidence/{stored(incident, content, 'a/b.html').pk}/download")
    assert response.getvalue() == content
    assert response["Content-Disposition"] == 'attachment; filename="b.html"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Type"] == "application/octet-stream"


def test_bytes_that_are_gone_are_told_in_words(responder: Client, incident: Incident, settings):
    evidence = stored(incident, b"x\n")
    settings.EVIDENCE_DIR = settings.EVIDENCE_DIR / "elsewhere"
    assert responder.get(f"/evidence/{evidence.pk}/download").status_code == 410
    page = responder.get(f"/evidence/{evidence.pk}/excerpt?line=1").content.decode()
    assert "does not hold" in page


def test_the_answer_for_a_script_is_json(responder: Client, incident: Incident):
    response = hand_in(responder, incident, ("one.log", b"1"))
    assert json.loads(response.content) == {
        "files": [{"name": "one.log", "state": "stored", "reason": ""}]
    }


def use(client: Client, evidence: Evidence, do: str, reason: str = ""):
    given = {"do": do, "reason": reason}
    return client.post(f"/evidence/{evidence.pk}/change-use", given, follow=True)


def test_a_wrong_file_is_set_aside_and_taken_back(responder: Client, incident: Incident):
    evidence = stored(incident, b"x\n")
    page = use(responder, evidence, "set-aside", "another job").content.decode()
    assert "run the diagnosis again to judge without it" in page
    assert "“another job”" in responder.get(f"/evidence/{evidence.pk}/use").content.decode()
    use(responder, evidence, "take-back")
    evidence.refresh_from_db()
    assert evidence.set_aside_at is None


def test_a_responder_cannot_delete_bytes(responder: Client, incident: Incident):
    evidence = stored(incident, b"x\n")
    assert use(responder, evidence, "purge", "secret").status_code == 403
    assert "Delete for good" not in responder.get(f"/evidence/{evidence.pk}/use").content.decode()


def test_a_file_whose_bytes_were_deleted_says_so(
    responder: Client, incident: Incident, django_capture_on_commit_callbacks
):
    evidence = stored(incident, b"secret\n")
    with django_capture_on_commit_callbacks(execute=True):
        purge(actor=actor(Role.ADMIN), evidence=evidence, reason="secret")
    download = responder.get(f"/evidence/{evidence.pk}/download")
    assert (download.status_code, b"had the bytes deleted" in download.content) == (410, True)
    page = responder.get(f"/evidence/{evidence.pk}/excerpt").content.decode()
    assert "had the bytes deleted" in page


def test_a_viewer_sets_nothing_aside(viewer: Client, incident: Incident):
    evidence = stored(incident, b"x\n")
    assert use(viewer, evidence, "set-aside", "x").status_code == 403
