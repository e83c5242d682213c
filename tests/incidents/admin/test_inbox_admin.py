"""Inboxes in the admin site."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from incidents.choices import Role
from incidents.models import Inbox
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
MAPPING = {"key": "id", "title": "name", "hosts": "host"}


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(UserFactory(role=Role.OPERATOR))
    return client


def add(client: Client, mapping: object, sample: object) -> str:
    given = {
        "name": "zabbix",
        "kind": "generic",
        "enabled": "on",
        "mapping": json.dumps(mapping),
        "sample": json.dumps(sample),
        "_continue": "1",
    }
    page = client.post(reverse("admin:incidents_inbox_add"), given, follow=True)
    return page.content.decode()


def test_a_saved_sample_shows_what_it_is_read_as(operator: Client):
    page = add(operator, MAPPING, {"id": 7, "name": "fan stopped", "host": "node-3"})
    assert "fan stopped" in page
    assert "(&#x27;node-3&#x27;,)" in page


def test_a_sample_that_cannot_be_read_says_why(operator: Client):
    assert "Alert 0 has no key" in add(operator, MAPPING, {"name": "fan stopped"})


def test_a_mapping_that_cannot_work_is_told_at_the_field(operator: Client):
    assert "no JMESPath expression" in add(operator, {**MAPPING, "key": "a["}, {})
    assert not Inbox.objects.exists()
