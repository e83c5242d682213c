"""Campaigns over the whole document. `make fuzz-api` runs a long one."""

from collections.abc import Iterator

import pytest
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections

from tests.fuzz.campaign import brief, campaign
from tests.fuzz.world import tokens_of_every_role

pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore:No directory at")]


@pytest.fixture(autouse=True)
def _in_the_tests_transaction() -> Iterator[None]:
    """As Django's own test client: a request does not close the connection of the test."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def test_one_call_of_everything_is_answered_as_it_is_described():
    found = brief(get_wsgi_application(), tokens_of_every_role())
    assert (dict(found.server_errors), dict(found.undocumented)) == ({}, {})
    assert found.cases > 100


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_no_call_ends_in_a_server_error():
    found = campaign(get_wsgi_application(), tokens_of_every_role(), examples=3)
    assert (dict(found.server_errors), dict(found.undocumented)) == ({}, {})
    assert found.cases > 500
