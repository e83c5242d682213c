"""The table of endpoints, cell by cell: role × own or other cluster."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import chain
from typing import Any

import pytest
from django.db import transaction
from django.urls import get_resolver
from django.utils import timezone
from rest_framework.test import APIClient

from incidents.choices import Role
from incidents.models import Event
from incidents.roles import CAPABILITIES
from incidents.services import tokens
from tests.access.endpoints import (
    ABSENT,
    ENDPOINTS,
    FOREIGN,
    HIDDEN,
    OUTSIDE,
    PRIVATE,
    REFUSED,
    UNKNOWN,
    UNSEEN,
    Cell,
)
from tests.access.world import Names
from tests.factories import UserFactory, actor

pytestmark = pytest.mark.django_db


def program(role: Role, *clusters: str) -> APIClient:
    """A token of everything that the role may do, in these clusters or in all."""
    issued = tokens.issue(
        actor=actor(Role.ADMIN),
        owner=UserFactory(role=role),
        name="program",
        scopes=CAPABILITIES[role],
        expires_at=timezone.now() + timedelta(days=1),
        clusters=clusters,
    )
    made = APIClient(raise_request_exception=False)
    made.credentials(HTTP_AUTHORIZATION=f"Bearer {issued.raw}")
    return made


def call(client: APIClient, cell: Cell, names: Names, *, undo: bool = True) -> Any:
    """The call, undone afterwards. Texts of the body are filled in like the address."""
    body = re.sub(r'"\{(\w+)\}"', lambda found: f'"{names[found[1]]}"', json.dumps(cell.body))
    kind = "application/json"
    with transaction.atomic():
        answer: Any = client.generic(
            cell.method, f"/api/v1/{cell.address.format(**names)}", body, kind, HTTP_IF_MATCH="*"
        )
        getattr(answer, "streaming", False) and list(answer.streaming_content)
        transaction.set_rollback(undo)
    return answer


def wrong(answer: Any, cell: Cell, role: Role, names: Names) -> bool:
    """Whether the answer is another one than the table says."""
    if cell.needs not in CAPABILITIES[role]:
        return bool(answer.status_code != 403)
    elsewhere = names["cluster"] == "other"
    if cell.elsewhere is PRIVATE or (elsewhere and cell.elsewhere in {HIDDEN, UNSEEN}):
        return bool(answer.status_code != 404)
    foreign = cell.elsewhere is FOREIGN and (elsewhere or role is not Role.ADMIN)
    if foreign or (elsewhere and cell.elsewhere in {REFUSED, OUTSIDE}):
        return bool(answer.status_code != 403)
    if elsewhere and cell.elsewhere is UNKNOWN:
        return bool(answer.status_code != 400)
    if elsewhere and cell.elsewhere is ABSENT:
        return answer.status_code != 200 or "other" in json.dumps(rows(answer.json()))
    return answer.status_code not in {200, 201, 202, 204, 400, 409}


def rows(found: Any) -> Any:
    """The rows of a list: of a page, or all of them."""
    return found["results"] if isinstance(found, dict) else found


def told(answer: Any, cell: Cell) -> str:
    return f"{cell.method} {cell.address}: {answer.status_code}"


@pytest.mark.parametrize("role", Role)
def test_every_cell_of_ones_own_cluster(role: Role, own: Names):
    client = program(role, "own")
    answers = [
        (cell, call(client, cell, own))
        for cell in ENDPOINTS
        if cell.elsewhere not in {REFUSED, UNSEEN, FOREIGN}
    ]
    assert [told(a, cell) for cell, a in answers if wrong(a, cell, role, own)] == []


@pytest.mark.parametrize("role", Role)
def test_every_cell_of_another_cluster(role: Role, other: Names):
    client = program(role, "own")
    answers = [(cell, call(client, cell, other)) for cell in ENDPOINTS]
    assert [told(a, cell) for cell, a in answers if wrong(a, cell, role, other)] == []


@pytest.mark.parametrize("role", Role)
def test_every_cell_without_limits(role: Role, own: Names):
    client = program(role)
    answers = [(cell, call(client, cell, own)) for cell in ENDPOINTS]
    assert [told(a, cell) for cell, a in answers if wrong(a, cell, role, own)] == []


def test_the_table_names_every_method_of_every_address():
    listed = {(cell.method, plain(cell.address)) for cell in ENDPOINTS}
    assert listed == set(routes())


def plain(address: str) -> str:
    path = re.sub(r"{\w+}", "*", address.partition("?")[0])
    path = path.replace("by-external/tickets", "by-external/*")
    path = path.replace("/rounds/1", "/rounds/*")
    return "problems/*" if path == "problems/not-found" else path


def routes() -> Iterator[tuple[str, str]]:
    """Method and address of every record and picture below /api/v1/."""
    prefix: Any = next(one for one in get_resolver().url_patterns if str(one.pattern) == "api/v1/")
    included = [one.url_patterns for one in prefix.url_patterns if hasattr(one, "url_patterns")]
    for pattern in chain.from_iterable(included):
        for method in set(pattern.callback.actions) - {"head"}:
            yield method.upper(), re.sub(r"<[\w:]+>", "*", str(pattern.pattern))


#: Writes that leave no event: alerts are events of the incident that they come to, steps are
#: progress, a trial and a dry run change nothing, a view is one's own, a runner says it is there;
#: of this webhook nothing was given up that could be sent again.
SILENT = {
    "inbox/{inbox_name}",
    "inbox/pagerduty/v2/enqueue",
    "attempts/{attempt}/progress",
    "inboxes/{inbox}/try",
    "recommendations/{recommendation}/execution",
    "views",
    "webhooks/{webhook}/replay",
    "check-runners",
    "check-runners/{runner}/tasks",
    "check-tasks/{check_task}/output",
}


def test_every_write_that_is_taken_leaves_an_event(own: Names):
    client = program(Role.ADMIN)
    untold = []
    for cell in ENDPOINTS:
        if cell.method == "GET" or cell.address in SILENT:
            continue
        before = Event.objects.order_by("-id").values_list("id", flat=True).first() or 0
        answer, newer = call_and_count(client, cell, own, before)
        if answer.status_code in {201, 202, 204} and not newer:
            untold.append(told(answer, cell))
    assert untold == []


def call_and_count(client: APIClient, cell: Cell, names: Names, before: int) -> tuple[Any, int]:
    """The answer to a call, and how many events it left before it was undone."""
    with transaction.atomic():
        answer = call(client, cell, names, undo=False)
        newer = Event.objects.filter(id__gt=before).count()
        transaction.set_rollback(True)
    return answer, newer
