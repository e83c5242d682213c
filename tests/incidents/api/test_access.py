"""Tokens that say less than their owner may do; roles and clusters are in tests/access."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from incidents.choices import Role
from incidents.roles import Capability
from tests.access.endpoints import ENDPOINTS as TABLE
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

#: Method, address, what it takes: the table that tests/access goes through cell by cell.
ENDPOINTS = [(cell.method, cell.address.partition("?")[0], cell.needs) for cell in TABLE]
IDS = [f"{method} {address}" for method, address, _ in ENDPOINTS]


def call(client: APIClient, method: str, address: str, **more: Any) -> Any:
    """The call with an empty body: what is asked here is who may make it, not what comes of it."""
    path = "/api/v1/" + re.sub(r"{\w+}", "1", address)
    return client.generic(method, path, "{}", content_type="application/json", **more)


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


def test_a_signed_in_person_needs_a_csrf_token_to_write():
    browser = APIClient(enforce_csrf_checks=True)
    browser.force_login(UserFactory(role=Role.ADMIN))
    assert call(browser, "POST", "incidents").status_code == 403


def test_a_signed_in_person_reads_as_their_role():
    browser = APIClient()
    browser.force_login(UserFactory(role=Role.VIEWER))
    assert call(browser, "GET", "me").json()["capabilities"] == ["read"]
    assert call(browser, "GET", "tokens").status_code == 403
