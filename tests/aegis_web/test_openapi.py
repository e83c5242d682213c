"""The OpenAPI document: valid, whole, and the one that is committed."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from rest_framework.test import APIClient

from incidents.choices import Role
from tests.factories import UserFactory

COMMITTED = Path(settings.BASE_DIR, "docs/openapi.yaml")


@pytest.fixture(scope="module")
def generated() -> str:
    """The document as the code gives it; a warning of the generator fails."""
    out = StringIO()
    call_command("spectacular", validate=True, fail_on_warn=True, stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.fixture(scope="module")
def document(generated: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(generated)
    return loaded


@pytest.mark.skipif(
    connection.vendor != "sqlite",
    reason="ranges of whole numbers are the database's; the document is made on the default one",
)
def test_the_committed_document_is_the_codes(generated: str):
    assert COMMITTED.read_text() == generated, "run `make openapi` and look at the difference"


def test_it_is_openapi_3_1(document: dict[str, Any]):
    assert document["openapi"] == "3.1.0"


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]


def test_every_call_is_described_and_needs_a_token(document: dict[str, Any]):
    for method, path, operation in operations(document):
        assert operation.get("description"), f"{method} {path}"
        assert {"token": []} in operation["security"], f"{method} {path}"


def test_every_call_says_its_errors_are_problems(document: dict[str, Any]):
    for method, path, operation in operations(document):
        refused = operation["responses"]["401"]["content"]
        assert list(refused) == ["application/problem+json"], f"{method} {path}"


def test_creating_calls_take_a_key_and_changes_need_if_match(document: dict[str, Any]):
    for method, path, operation in operations(document):
        parameters = operation.get("parameters", [])
        headers = {one["name"]: one for one in parameters if one["in"] == "header"}
        assert ("Idempotency-Key" in headers) is (method == "post"), f"{method} {path}"
        if method == "patch":
            assert headers["If-Match"]["required"], path


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/jobs",
        "/api/v1/jobs/{job}/attempts",
        "/api/v1/incidents",
        "/api/v1/recommendations/{recommendation}/decisions",
        "/api/v1/tokens",
    ],
)
def test_the_main_calls_have_examples(document: dict[str, Any], path: str):
    content = document["paths"][path]["post"]["requestBody"]["content"]
    assert content["application/json"]["examples"]


@pytest.mark.django_db
def test_schema_and_page_need_a_login():
    assert APIClient().get("/api/v1/schema").status_code == 401
    page = APIClient().get("/api/v1/docs")
    assert (page.status_code, page["Location"]) == (302, "/login?next=/api/v1/docs")


@pytest.mark.django_db
def test_a_signed_in_person_gets_schema_and_page():
    browser = APIClient()
    browser.force_login(UserFactory(role=Role.VIEWER))
    assert b"openapi: 3.1.0" in browser.get("/api/v1/schema").content
    assert b"swagger-ui" in browser.get("/api/v1/docs").content
