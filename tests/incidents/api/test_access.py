"""Who may do what over REST: every endpoint by every role, and tokens that say less."""

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import pytest
from django.urls import get_resolver
from rest_framework.test import APIClient

from incidents.choices import Role
from incidents.roles import CAPABILITIES, Capability
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

READ, RESPOND, REGISTER, OPERATE = (
    Capability.READ,
    Capability.RESPOND,
    Capability.REGISTER_JOBS,
    Capability.OPERATE,
)
#: Method, address below /api/v1/, what it takes. {id} is the one record of that kind.
ENDPOINTS = [
    ("GET", "me", READ),
    ("GET", "clusters", READ),
    ("GET", "hosts", READ),
    ("GET", "hosts/{host}", READ),
    ("PATCH", "hosts/{host}", OPERATE),
    ("GET", "jobs", READ),
    ("POST", "jobs", REGISTER),
    ("GET", "jobs/{job}", READ),
    ("GET", "jobs/{job}/attempts", READ),
    ("POST", "jobs/{job}/attempts", REGISTER),
    ("GET", "attempts/{attempt}", READ),
    ("PATCH", "attempts/{attempt}", REGISTER),
    ("GET", "attempts/{attempt}/placement", READ),
    ("PUT", "attempts/{attempt}/placement", REGISTER),
    ("POST", "attempts/{attempt}/progress", REGISTER),
    ("GET", "attempts/{attempt}/watch", READ),
    ("GET", "incidents", READ),
    ("POST", "incidents", RESPOND),
    ("GET", "incidents/{incident}", READ),
    ("PATCH", "incidents/{incident}", RESPOND),
    ("POST", "incidents/{incident}/notes", RESPOND),
    ("GET", "incidents/{incident}/evidence", READ),
    ("POST", "incidents/{incident}/evidence", RESPOND),
    ("GET", "evidence/{evidence}", READ),
    ("PATCH", "evidence/{evidence}", RESPOND),
    ("GET", "evidence/{evidence}/content", READ),
    ("GET", "incidents/{incident}/diagnoses", READ),
    ("POST", "incidents/{incident}/diagnoses", RESPOND),
    ("GET", "diagnoses/{diagnosis}", READ),
    ("GET", "diagnoses/{diagnosis}/pictures/collective-progress", READ),
    ("GET", "suspects", READ),
    ("GET", "suspects/{suspect}", READ),
    ("GET", "recommendations", READ),
    ("GET", "recommendations/{recommendation}", READ),
    ("GET", "recommendations/{recommendation}/decisions", READ),
    ("POST", "recommendations/{recommendation}/decisions", RESPOND),
    ("GET", "decisions", READ),
    ("GET", "decisions/{decision}", READ),
    ("PATCH", "decisions/{decision}", RESPOND),
    ("GET", "events", READ),
    ("GET", "tokens", OPERATE),
    ("POST", "tokens", OPERATE),
    ("GET", "tokens/{token}", OPERATE),
    ("DELETE", "tokens/{token}", OPERATE),
    ("GET", "problems", READ),
    ("GET", "problems/{code}", READ),
    ("GET", "taxonomy", READ),
    ("GET", "taxonomy/fault-types", READ),
    ("GET", "taxonomy/fault-types/{code}", READ),
    ("GET", "taxonomy/signatures", READ),
    ("GET", "taxonomy/signatures/{code}", READ),
    ("GET", "taxonomy/versions", READ),
    ("GET", "taxonomy/versions/{version}", READ),
]
IDS = [f"{method} {address}" for method, address, _ in ENDPOINTS]


def call(client: APIClient, method: str, address: str, **more: Any) -> Any:
    """The call with an empty body: what is asked here is who may make it, not what comes of it."""
    keys = {"host", "job", "attempt", "incident", "evidence", "diagnosis", "suspect"}
    keys |= {"recommendation", "decision", "token", "version", "code"}
    path = f"/api/v1/{address.format(**dict.fromkeys(keys, 1))}"
    return client.generic(method, path, "{}", content_type="application/json", **more)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize(("method", "address", "needed"), ENDPOINTS, ids=IDS)
def test_a_role_is_let_in_where_the_table_says_so(
    program: Callable[..., APIClient], role: Role, method: str, address: str, needed: Capability
):
    refused = call(program(role), method, address).status_code == 403
    assert refused is (needed not in CAPABILITIES[role])


@pytest.mark.parametrize(("method", "address", "needed"), ENDPOINTS, ids=IDS)
def test_an_administrators_token_without_the_scope_is_refused(
    program: Callable[..., APIClient], method: str, address: str, needed: Capability
):
    others = [scope.value for scope in Capability if scope != needed]
    answer = call(program(Role.ADMIN, *others), method, address)
    assert answer.status_code == 403
    assert f"scope '{needed}'" in answer.json()["detail"]


@pytest.mark.parametrize(("method", "address", "needed"), ENDPOINTS, ids=IDS)
def test_a_token_with_only_that_scope_is_let_in(
    program: Callable[..., APIClient], method: str, address: str, needed: Capability
):
    answer = call(program(Role.ADMIN, needed.value), method, address)
    assert answer.status_code not in {401, 403}


@pytest.mark.parametrize(("method", "address", "needed"), ENDPOINTS, ids=IDS)
def test_nobody_is_let_in_without_saying_who_they_are(
    method: str, address: str, needed: Capability
):
    answer = call(APIClient(), method, address)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == 'Bearer realm="aegis"'


def test_the_table_names_every_method_of_every_address():
    listed = {(method, re.sub(r"{\w+}", "*", address)) for method, address, _ in ENDPOINTS}
    assert listed == set(_routes())


def _routes() -> Iterator[tuple[str, str]]:
    """Method and address of every record and picture below /api/v1/."""
    prefix: Any = next(one for one in get_resolver().url_patterns if str(one.pattern) == "api/v1/")
    included = [one.url_patterns for one in prefix.url_patterns if hasattr(one, "url_patterns")]
    for pattern in chain.from_iterable(included):
        for method in set(pattern.callback.actions) - {"head"}:
            yield method.upper(), re.sub(r"<[\w:]+>", "*", str(pattern.pattern))


def test_a_signed_in_person_needs_a_csrf_token_to_write():
    browser = APIClient(enforce_csrf_checks=True)
    browser.force_login(UserFactory(role=Role.ADMIN))
    assert call(browser, "POST", "incidents").status_code == 403


def test_a_signed_in_person_reads_as_their_role():
    browser = APIClient()
    browser.force_login(UserFactory(role=Role.VIEWER))
    assert call(browser, "GET", "me").json()["capabilities"] == ["read"]
    assert call(browser, "GET", "tokens").status_code == 403
