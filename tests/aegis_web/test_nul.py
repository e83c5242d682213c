"""A NUL character in an address, which PostgreSQL takes in no text."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from incidents.choices import Role
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed_in() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(UserFactory(role=Role.VIEWER))
    return client


@pytest.mark.parametrize("address", ["/", "/hosts/?name=%00", "/jobs/?name=a%00", "/reports/"])
def test_a_page_is_refused_and_says_so(address: str, signed_in: Client):
    answer = signed_in.get(address, {} if "%00" in address else {"q": "\x00"})
    assert answer.status_code == 400


def test_a_path_leads_nowhere(signed_in: Client):
    assert signed_in.get("/hosts/\x00/").status_code == 404


def test_the_api_names_the_parameter():
    client = APIClient()
    client.force_authenticate(UserFactory(role=Role.VIEWER))
    answer = client.get("/api/v1/events", {"verb": "a\x00b"})
    assert answer.status_code == 400
    assert answer.json()["errors"] == [
        {"detail": "A NUL character is part of no text.", "parameter": "verb"}
    ]
