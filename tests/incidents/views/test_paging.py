"""Pages by cursor: whatever an address brings, they are pages."""

import base64
import json

import pytest
from django.test import Client

from incidents import selectors
from incidents.selectors.desk import worst_first
from incidents.views.paging import page_of
from tests.factories import HostFactory, IncidentFactory


def cursor(*values: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "values",
    [
        ("a", "b"), ("a",), ("a", 1, 2), (None, None), ([], {}), ("a", 1e400), ("a", float("nan")),
        ("\ud800", 1), ("a\0", 1), (True, "x"), ("a", "2026-01-01T00:00:00+99:00"),
    ],
)  # fmt: skip
def test_a_cursor_that_no_page_gave_leads_to_the_start(values, responder: Client):
    HostFactory()
    page = responder.get("/hosts", {"after": cursor(*values)}).context["page"]
    assert (page.is_first, len(page.rows)) == (True, 1)


@pytest.mark.parametrize("values", [("x",) * 5, (1, 1, 1, 1, 1e400), (1, "no time", 1), (0,) * 9])
@pytest.mark.parametrize("address", ["/", "/jobs", "/hosts?order=worst"])
def test_no_list_fails_over_a_cursor(address: str, values, responder: Client):
    assert responder.get(address, {"after": cursor(*values)}).status_code == 200


def test_the_desk_s_pages_hold_each_incident_once(db):
    made = {IncidentFactory(severity=one).pk for one in ("low", "high", "high", "medium", "low")}
    rows, after, seen = worst_first(selectors.incidents()), "", []
    while True:
        page = page_of(rows, after=after, size=2)
        seen += [one.pk for one in page.rows]
        if not (after := page.next):
            break
    assert (len(seen), set(seen)) == (5, made)
