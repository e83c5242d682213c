"""Evidence: forms, raw bodies, compression, joining, the run that follows."""

import gzip
import io
from typing import Any

import pytest
import zstandard
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.handlers.wsgi import WSGIRequest
from django.test import RequestFactory
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.test import APIClient

from incidents import storage
from incidents.api.uploads import WholeBody, uploads_in
from incidents.models import Diagnosis, Evidence, Incident
from tests.factories import EvidenceFactory, IncidentFactory

pytestmark = pytest.mark.django_db
LOG = b"2026-11-30T06:20:07 node-017 kernel: NVRM: Xid (PCI:0000:3b:00): 95\n"


@pytest.fixture
def incident() -> Incident:
    made: Incident = IncidentFactory()
    return made


def raw(
    api: Any,
    incident: Incident,
    content: bytes = LOG,
    *,
    query: str = "name=node-017.dmesg.log",
    content_type: str = "application/octet-stream",
    **headers: str,
) -> Any:
    address = f"/api/v1/incidents/{incident.pk}/evidence?{query}"
    return api.generic("POST", address, content, content_type=content_type, **headers)


def form(api: APIClient, incident: Incident, query: str = "", **fields: Any) -> Any:
    return api.post(f"/api/v1/incidents/{incident.pk}/evidence?{query}", fields, format="multipart")


def stored(evidence: dict[str, Any]) -> bytes:
    with storage.open_blob(evidence["sha256"]) as stream:
        return stream.read()


def test_a_raw_body_becomes_a_file_with_its_bytes(api: APIClient, incident: Incident):
    answer = raw(api, incident, query="name=logs/node-017.dmesg.log&host=node-017&kind=log&rank=3")
    (file,) = answer.json()["evidence"]
    assert answer.status_code == 201
    assert api.get(answer["Location"]).json() == file
    said = (file["name"], file["host"], file["kind"], file["rank"], file["size"])
    assert said == ("logs/node-017.dmesg.log", "node-017", "log", 3, len(LOG))
    assert stored(file) == LOG


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "text/plain", "application/x-www-form-urlencoded", "application/x-pickle"],
)
def test_a_raw_body_is_kept_whatever_its_type_says(
    api: APIClient, incident: Incident, content_type: str
):
    answer = raw(api, incident, b"a=%zz&b", content_type=content_type)
    assert stored(answer.json()["evidence"][0]) == b"a=%zz&b"


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ('attachment; filename="rank-3.log"', "rank-3.log"),
        ("attachment; filename*=UTF-8''n%C3%B6de.log", "nöde.log"),
    ],
)
def test_content_disposition_names_the_file(
    api: APIClient, incident: Incident, header: str, name: str
):
    answer = raw(api, incident, query="", HTTP_CONTENT_DISPOSITION=header)
    assert answer.json()["evidence"][0]["name"] == name


def test_a_file_without_a_name_is_refused(api: APIClient, incident: Incident):
    assert raw(api, incident, query="").status_code == 400


@pytest.mark.parametrize(
    ("encoding", "packed", "suffix"),
    [
        ("gzip", gzip.compress(LOG, mtime=0), ".gz"),
        ("zstd", zstandard.ZstdCompressor().compress(LOG), ".zst"),
    ],
)
def test_a_compressed_body_is_kept_as_it_was_sent(
    api: APIClient, incident: Incident, encoding: str, packed: bytes, suffix: str
):
    answer = raw(api, incident, packed, HTTP_CONTENT_ENCODING=encoding)
    (file,) = answer.json()["evidence"]
    assert (file["name"], stored(file)) == (f"node-017.dmesg.log{suffix}", packed)


def test_an_unknown_encoding_is_refused(api: APIClient, incident: Incident):
    assert raw(api, incident, HTTP_CONTENT_ENCODING="br").status_code == 415


def test_an_empty_file_is_kept(api: APIClient, incident: Incident):
    answer = raw(api, incident, b"")
    assert (answer.status_code, answer.json()["evidence"][0]["size"]) == (201, 0)


def test_a_form_brings_many_files_under_any_field(api: APIClient, incident: Incident):
    answer = form(
        api,
        incident,
        file=[SimpleUploadedFile("rank-0.log", b"0"), SimpleUploadedFile("rank-1.log", b"1")],
        placement=SimpleUploadedFile("placement.json", b"[]"),
        job="48211",
    )
    files = answer.json()["evidence"]
    assert [file["name"] for file in files] == ["rank-0.log", "rank-1.log", "placement.json"]
    assert {file["job"] for file in files} == {"48211"}


def test_a_form_without_a_file_is_refused(api: APIClient, incident: Incident):
    answer = form(api, incident, host="node-1")
    assert answer.json()["errors"][0]["pointer"] == "#/file"


@pytest.mark.parametrize("query", ["rank=-1", "kind=novel", "hots=node-1", "rank=x"])
def test_what_is_said_wrongly_is_refused_before_anything_is_kept(
    api: APIClient, incident: Incident, query: str
):
    assert raw(api, incident, query=f"name=x.log&{query}").status_code == 400
    assert not Evidence.objects.exists()


def test_a_file_that_is_too_large_is_refused_before_it_is_read(
    api: APIClient, incident: Incident, settings: Any
):
    settings.EVIDENCE_MAX_BYTES = 10
    answer = raw(api, incident)
    assert (answer.status_code, answer.json()["type"]) == (
        413,
        "/api/v1/problems/evidence-too-large",
    )


def test_many_files_end_in_one_queued_run(api: APIClient, incident: Incident):
    runs = {
        raw(api, incident, query=f"name=rank-{rank}.log").json()["diagnosis"]["id"]
        for rank in range(3)
    }
    assert runs == {Diagnosis.objects.get().pk}
    assert Diagnosis.objects.get().state == "queued"


def test_a_run_can_wait_for_the_last_file(api: APIClient, incident: Incident):
    first = raw(api, incident, query="name=rank-0.log&diagnose=false")
    assert first.json()["diagnosis"] is None
    raw(api, incident, query="name=rank-1.log")
    assert Diagnosis.objects.count() == 1


def test_the_same_file_again_is_joined_and_asks_for_nothing(api: APIClient, incident: Incident):
    first = raw(api, incident)
    Diagnosis.objects.update(state="failed", error="x")
    again = raw(api, incident)
    assert again.status_code == 200
    assert again.json()["evidence"] == first.json()["evidence"]
    assert again.json()["diagnosis"]["id"] == first.json()["diagnosis"]["id"]
    assert Diagnosis.objects.count() == 1


def test_the_bytes_come_back_as_a_download(api: APIClient, incident: Incident):
    file = raw(api, incident, query="name=logs/a%20b.log").json()["evidence"][0]
    answer: Any = api.get(f"/api/v1/evidence/{file['id']}/content")
    assert b"".join(answer.streaming_content) == LOG
    assert answer["Content-Disposition"] == 'attachment; filename="a b.log"'
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_bytes_that_the_store_lost_are_a_problem(api: APIClient, incident: Incident):
    file = raw(api, incident).json()["evidence"][0]
    storage.path_of(file["sha256"]).unlink()
    answer = api.get(f"/api/v1/evidence/{file['id']}/content")
    assert (answer.status_code, answer.json()["type"]) == (404, "/api/v1/problems/blob-missing")


@pytest.mark.parametrize(("query", "found"), [("kind=log", 1), ("parse_status=skipped", 0)])
def test_files_are_filtered(api: APIClient, incident: Incident, query: str, found: int):
    raw(api, incident, query="name=a.log&kind=log")
    raw(api, incident, b"{}", query="name=b.json")
    rows = api.get(f"/api/v1/incidents/{incident.pk}/evidence?{query}").json()["results"]
    assert len(rows) == found


def test_half_a_file_is_not_kept(
    api: APIClient, incident: Incident, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(WSGIRequest, "read", lambda request, size: b"")
    answer = raw(api, incident)
    assert (answer.status_code, answer.json()["type"]) == (
        400,
        "/api/v1/problems/upload-interrupted",
    )
    assert not Evidence.objects.exists()


class BrokenConnection:
    def read(self, size: int = -1, /) -> bytes:
        raise OSError("connection reset")


def test_a_connection_that_breaks_is_told():
    with pytest.raises(APIException, match="ended before"):
        WholeBody(BrokenConnection(), 10).read()


def of_unknown_length(**meta: object) -> Request:
    sent: Any = {"HTTP_TRANSFER_ENCODING": "chunked", **meta}
    return Request(RequestFactory().generic("POST", "/", b"", **sent))


def test_a_chunked_body_is_read_to_its_end():
    request = of_unknown_length(**{"wsgi.input": io.BytesIO(LOG), "wsgi.input_terminated": True})
    (upload,) = uploads_in(request, name="x.log")
    assert upload.stream.read(1000) == LOG


def test_a_server_that_cannot_end_a_chunked_body_asks_for_its_length():
    with pytest.raises(APIException, match="Content-Length"):
        uploads_in(of_unknown_length(), name="x.log")


def use(api: APIClient, evidence: Evidence, tag: str = "*", **body: Any) -> Any:
    at = f"/api/v1/evidence/{evidence.pk}"
    return api.patch(at, body, format="json", HTTP_IF_MATCH=tag)


def test_a_file_is_set_aside_and_taken_back(api: APIClient):
    evidence = EvidenceFactory()
    tag = api.get(f"/api/v1/evidence/{evidence.pk}")["ETag"]
    aside = use(api, evidence, tag, set_aside=True, reason="another job").json()
    assert (aside["set_aside_reason"], aside["set_aside_at"] is None) == ("another job", False)
    assert use(api, evidence, tag, set_aside=False).status_code == 412
    assert use(api, evidence, set_aside=False).json()["set_aside_at"] is None


def test_setting_a_file_aside_needs_a_reason(api: APIClient):
    answer = use(api, EvidenceFactory(), set_aside=True)
    assert answer.json()["errors"][0]["pointer"] == "#/reason"


def test_a_file_that_is_set_aside_already_is_left_as_it_is(api: APIClient):
    evidence = EvidenceFactory()
    use(api, evidence, set_aside=True, reason="first")
    assert use(api, evidence, set_aside=True, reason="second").json()["set_aside_reason"] == "first"
