"""Every error is a problem document (RFC 9457) with a stable type."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from incidents import selectors
from incidents.api import parsers
from incidents.api.problem_kinds import PROBLEM_KINDS
from incidents.choices import Role
from incidents.exceptions import RecordsError
from tests.factories import IncidentFactory

pytestmark = pytest.mark.django_db
JSON = "application/json"


def problem_of(answer: Any) -> dict[str, Any]:
    """The document, checked for what every problem has."""
    document: dict[str, Any] = answer.json()
    assert answer["Content-Type"] == "application/problem+json"
    kind = PROBLEM_KINDS[document["type"].removeprefix("/api/v1/problems/")]
    assert document["status"] == answer.status_code == kind.status
    assert document["title"] == kind.title
    assert document["detail"]
    return document


def kind_of(answer: Any) -> tuple[int, str]:
    document = problem_of(answer)
    return document["status"], document["type"].removeprefix("/api/v1/problems/")


@pytest.mark.parametrize(
    ("method", "address", "body", "headers", "expected"),
    [
        ("GET", "nonsense", "", {}, (404, "not-found")),
        ("GET", "incidents/", "", {}, (404, "not-found")),
        ("GET", "incidents/77", "", {}, (404, "not-found")),
        ("GET", f"incidents/{10**40}", "", {}, (404, "not-found")),
        ("GET", "problems/nonsense", "", {}, (404, "not-found")),
        ("DELETE", "incidents", "", {}, (405, "method-not-allowed")),
        ("OPTIONS", "incidents", "", {}, (405, "method-not-allowed")),
        ("GET", "incidents", "", {"HTTP_ACCEPT": "text/html"}, (406, "not-acceptable")),
        ("POST", "incidents", "{", {}, (400, "malformed-body")),
        ("POST", "incidents", "\xff", {}, (400, "malformed-body")),
        ("POST", "incidents", "[]", {}, (400, "invalid-input")),
        ("POST", "incidents", "NaN", {}, (400, "malformed-body")),
        ("POST", "incidents", "[" * 5000, {}, (400, "malformed-body")),
        ("GET", "incidents?cursor=%FF", "", {}, (400, "invalid-cursor")),
        ("GET", "incidents?cursor=cD1hYmM=", "", {}, (400, "invalid-cursor")),
        ("GET", "incidents?limit=0", "", {}, (400, "invalid-input")),
        ("GET", "incidents?limit=9999", "", {}, (400, "invalid-input")),
        ("GET", "incidents?kind=crush", "", {}, (400, "invalid-input")),
        ("GET", "events?since=x", "", {}, (400, "invalid-input")),
    ],
)
def test_errors_are_problems_of_a_known_kind(
    api: Any,
    method: str,
    address: str,
    body: str,
    headers: dict[str, str],
    expected: tuple[int, str],
):
    content = body.encode("latin-1")
    answer = api.generic(method, f"/api/v1/{address}", content, content_type=JSON, **headers)
    assert kind_of(answer) == expected


def test_an_address_beside_the_api_is_a_problem_without_a_token():
    assert kind_of(APIClient().get("/api/v2/incidents")) == (404, "not-found")


def test_a_method_that_is_not_taken_names_those_that_are(api: APIClient):
    assert api.delete("/api/v1/incidents")["Allow"] == "GET, HEAD, POST"


def test_a_form_is_refused_where_json_is_taken(api: APIClient):
    answer = api.post("/api/v1/incidents", {"title": "x"}, format="multipart")
    assert kind_of(answer) == (415, "unsupported-media-type")


def test_json_that_is_too_large_is_refused(api: APIClient, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parsers, "JSON_MAX_BYTES", 100)
    answer = api.post("/api/v1/incidents", {"title": "x" * 100}, format="json")
    assert kind_of(answer) == (413, "body-too-large")


def test_a_role_that_is_missing_is_named(program: Callable[..., APIClient]):
    answer = program(Role.VIEWER).post("/api/v1/incidents", {"title": "x"}, format="json")
    assert "responder" in problem_of(answer)["detail"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "#/title"),
        ({"title": ""}, "#/title"),
        ({"title": "a\x00b"}, "#/title"),
        ({"title": "x", "kind": "crush"}, "#/kind"),
        ({"hosts": ["node-1", ""]}, "#/hosts/1"),
        ({"hosts": "node-1"}, "#/hosts"),
        ({"title": "x", "attempt": 9}, "#/attempt"),
        ({"title": "x", "onset_at": "2026-11-30 06:00"}, "#/onset_at"),
        ({"title": "x", "onset_at": "yesterday"}, "#/onset_at"),
        ({"title": "x", "onset_at": "0001-01-01T00:00:00Z"}, "#/onset_at"),
        ({"title": "x", "onset_at": "9999-12-31T23:59:59Z"}, "#/onset_at"),
        (
            {
                "title": "x",
                "onset_at": "2026-11-30T06:00:00Z",
                "ended_at": "2026-11-30T05:59:59Z",
            },
            "#/ended_at",
        ),
        ({"title": "x", "titel/~": "y"}, "#/titel~1~0"),
    ],
)
def test_a_pointer_leads_to_the_bad_value(api: APIClient, body: dict[str, Any], pointer: str):
    document = problem_of(api.post("/api/v1/incidents", body, format="json"))
    assert [error["pointer"] for error in document["errors"]] == [pointer]


def test_several_bad_values_are_all_named(api: APIClient):
    body = {"title": "x", "kind": "crush", "severity": "dire"}
    document = problem_of(api.post("/api/v1/incidents", body, format="json"))
    assert {error["pointer"] for error in document["errors"]} == {"#/kind", "#/severity"}


def test_a_misspelt_parameter_is_named_and_does_not_widen_the_list(api: APIClient):
    document = problem_of(api.get("/api/v1/incidents?stauts=resolved"))
    assert document["errors"][0]["parameter"] == "stauts"


def test_what_nobody_expected_is_logged_and_told_without_its_inside(
    api: APIClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def broken() -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr(selectors, "clusters", broken)
    answer = api.get("/api/v1/clusters")
    assert kind_of(answer) == (500, "internal-error")
    assert "the inside" not in answer.content.decode()
    assert "the inside" in caplog.text


def test_what_the_records_refuse_without_a_kind_of_its_own_is_a_conflict(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
):
    def broken() -> None:
        raise RecordsError("not now")

    monkeypatch.setattr(selectors, "clusters", broken)
    assert kind_of(api.get("/api/v1/clusters")) == (409, "refused")


@pytest.mark.parametrize("code", PROBLEM_KINDS)
def test_the_type_leads_to_its_meaning(api: APIClient, code: str):
    answer = api.get(PROBLEM_KINDS[code].type)
    assert answer.status_code == 200
    assert answer.json()["meaning"]


def test_every_refusal_of_the_records_has_its_kind():
    refusals = [
        one for one in RecordsError.__subclasses__() if one.__module__.startswith("incidents")
    ]
    codes = {refusal.code for refusal in refusals}
    assert codes - set(PROBLEM_KINDS) == {"append-only", "lease-lost"}


def test_a_step_that_the_status_does_not_allow_says_what_is_possible(api: APIClient):
    incident = IncidentFactory(status="resolved", resolution="other", resolved_at=timezone.now())
    answer = api.patch(
        f"/api/v1/incidents/{incident.pk}",
        {"status": "acknowledged"},
        format="json",
        HTTP_IF_MATCH="*",
    )
    assert kind_of(answer) == (409, "transition-refused")
    assert "reopen" in answer.json()["detail"]
