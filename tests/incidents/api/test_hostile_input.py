"""Whatever is sent, the answer is an answer: no body and no query ends in a 5xx."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from tests.factories import (
    AttemptFactory,
    EvidenceFactory,
    HostFactory,
    IncidentFactory,
    RecommendationFactory,
)

pytestmark = pytest.mark.django_db
unhurried = settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

text = st.text(max_size=20) | st.sampled_from(["\x00", "1" * 400, "2026-11-30T06:00:00Z", "a/../b"])
scalars = st.none() | st.booleans() | st.integers() | st.floats() | text
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=6)
FIELDS = {
    "POST jobs": ["external_id", "source", "cluster", "name", "tp_size"],
    "POST jobs/{job}/attempts": ["number", "started_at", "placement"],
    "PATCH attempts/{attempt}": ["outcome", "ended_at"],
    "PUT attempts/{attempt}/placement": ["rank", "host", "gpu", "nic", "dp"],
    "POST incidents": ["title", "kind", "job", "attempt", "hosts", "dedup_key", "onset_at"],
    "PATCH incidents/{incident}": ["status", "resolution", "note", "assignee", "title", "attempt"],
    "POST incidents/{incident}/notes": ["text"],
    "POST recommendations/{recommendation}/decisions": ["kind", "reason", "changed_action"],
    "PATCH hosts/{host}": ["state", "note"],
    "PATCH evidence/{evidence}": ["set_aside", "reason"],
    "POST tokens": ["name", "scopes", "expires_at", "owner"],
}
PARAMETERS = {
    "incidents": [
        "status",
        "class",
        "assignee",
        "q",
        "host",
        "job",
        "opened_after",
        "cursor",
        "limit",
    ],
    "jobs": ["external_id", "cluster", "state", "q", "cursor"],
    "hosts": ["name", "state", "q"],
    "incidents/{incident}/evidence": ["kind", "cursor"],
    "suspects": ["incident", "role", "host"],
    "recommendations": ["diagnosis", "decided"],
    "events": ["since", "limit", "incident", "verb"],
}


@pytest.fixture
def places(db: None) -> dict[str, int]:
    """One record of each kind, for the addresses."""
    attempt = AttemptFactory()
    return {
        "attempt": attempt.pk,
        "job": attempt.job_id,
        "incident": IncidentFactory().pk,
        "recommendation": RecommendationFactory().pk,
        "host": HostFactory().pk,
        "evidence": EvidenceFactory().pk,
    }


@pytest.mark.parametrize("call", FIELDS)
@given(data=st.data())
@unhurried
def test_no_body_ends_in_a_server_error(
    api: Any, places: dict[str, int], call: str, data: st.DataObject
):
    method, address = call.split()
    document = st.dictionaries(st.sampled_from(FIELDS[call]), values, max_size=5)
    body = data.draw(document | st.lists(document, max_size=2) | values)
    answer = api.generic(
        method,
        f"/api/v1/{address.format(**places)}",
        json.dumps(body),
        content_type="application/json",
        HTTP_IF_MATCH="*",
    )
    assert answer.status_code < 500, answer.content


@pytest.mark.parametrize("call", FIELDS)
def test_a_nul_character_in_any_field_is_no_server_error(
    api: Any, places: dict[str, int], call: str
):
    method, address = call.split()
    answers = [
        api.generic(
            method,
            f"/api/v1/{address.format(**places)}",
            json.dumps({field: "\x00"}),
            content_type="application/json",
            HTTP_IF_MATCH="*",
        )
        for field in FIELDS[call]
    ]
    assert [answer.content for answer in answers if answer.status_code >= 500] == []


@pytest.mark.parametrize("place", PARAMETERS)
@given(data=st.data())
@unhurried
def test_no_query_ends_in_a_server_error(
    api: APIClient, places: dict[str, int], place: str, data: st.DataObject
):
    name = data.draw(st.sampled_from(PARAMETERS[place]))
    value = data.draw(text | st.integers().map(str))
    answer = api.get(f"/api/v1/{place.format(**places)}?{name}={quote(value)}")
    assert answer.status_code < 500, answer.content
