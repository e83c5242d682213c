"""The table of pages, cell by cell: role × own or other cluster."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, get_resolver

from incidents.choices import Role
from incidents.models import Event
from incidents.roles import CAPABILITIES
from tests.access.endpoints import ABSENT, EMPTY, HIDDEN, Cell
from tests.access.pages import PAGES
from tests.access.world import Names
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

#: Pages that are nobody's: they need no login, or show nothing but the person themselves.
OPEN_TO_ALL = {"health", "login", "logout", "password", "taxonomy/*", "glossary"}
#: What only the person who did it may take back or change.
THEIR_OWN = {"views/*"}


def person(role: Role, *clusters: str) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(UserFactory(role=role, clusters=list(clusters)))
    return client


def call(client: Client, cell: Cell, names: Names) -> Any:
    """The call, undone afterwards; `wrote` tells whether it left an event."""
    address = "/" + cell.address.format(**names)
    with transaction.atomic():
        before = Event.objects.count()
        if cell.method == "GET":
            answer: Any = client.get(address, follow=cell.elsewhere is ABSENT)
        else:
            answer = client.post(address, filled(cell.body, names))
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        answer.said = content.decode(errors="replace")
        answer.wrote = Event.objects.count() > before
        transaction.set_rollback(True)
    return answer


def filled(form: dict[str, str], names: Names) -> dict[str, str]:
    return {field: text.format(**names) for field, text in form.items()}


def wrong(answer: Any, cell: Cell, role: Role, names: Names) -> bool:
    """Whether the answer is another one than the table says.

    A form that is refused for its content before its permission is asked has changed nothing.
    """
    elsewhere = names["cluster"] == "other"
    refused = cell.method == "POST" and not answer.wrote
    if elsewhere and cell.elsewhere is HIDDEN:
        return answer.status_code not in {403, 404} and not refused
    if cell.needs not in CAPABILITIES[role]:
        return answer.status_code != 403 and not refused
    if elsewhere and cell.elsewhere is EMPTY:
        return bool(answer.status_code != 204)
    if elsewhere and cell.elsewhere is ABSENT:
        seen = re.findall(r"\b(?:title|job|node|cluster)-other\b|>other<", answer.said)
        return answer.status_code != 200 or bool(seen)
    return answer.status_code in {401, 403, 404} or answer.status_code >= 500


def told(answer: Any, cell: Cell) -> str:
    return f"{cell.method} {cell.address}: {answer.status_code}"


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("place", ["own", "other"])
def test_every_cell(role: Role, place: str, clusters: Mapping[str, Names]):
    names = clusters[place]
    client = person(role, "own")
    answers = [(cell, call(client, cell, names)) for cell in PAGES]
    failed = [told(a, cell) for cell, a in answers if wrong(a, cell, role, names)]
    assert failed == []


def test_the_table_names_every_page():
    listed = {re.sub(r"{\w+}", "*", cell.address) for cell in PAGES}
    listed = {re.sub(r"^reports/\w+\.csv$", "reports/*.csv", address) for address in listed}
    assert listed | OPEN_TO_ALL | THEIR_OWN == set(pages())


def pages() -> Iterator[str]:
    """The address of every page outside of the API and the admin site."""
    for pattern in get_resolver().url_patterns:
        prefix = str(pattern.pattern)
        if prefix.startswith(("admin/", "api/", "^api/")):
            continue
        found = [pattern] if isinstance(pattern, URLPattern) else pattern.url_patterns
        for one in found:
            yield re.sub(r"<[\w:]+>", "*", str(one.pattern))
