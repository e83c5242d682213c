"""Past incidents that look like one, over REST."""

import pytest
from django.test import Client

from tests.factories import ClusterFactory, IncidentFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader() -> Client:
    client = Client()
    client.force_login(UserFactory(role="viewer"))
    return client


def test_they_come_likest_first_with_why(reader: Client, django_assert_max_num_queries) -> None:
    west = ClusterFactory(name="west")
    same_fault = IncidentFactory(cluster=west, suspect_fault="xid-79")
    both = IncidentFactory(cluster=west, suspect_fault="xid-79", suspect_host="node-017")
    this = IncidentFactory(cluster=west, suspect_fault="xid-79", suspect_host="node-017")

    with django_assert_max_num_queries(12):
        found = reader.get(f"/api/v1/incidents/{this.pk}/similar").json()

    assert [one["incident"]["id"] for one in found] == [both.pk, same_fault.pk]
    assert (found[0]["why"], found[0]["decisions"]) == (["same host", "same fault"], [])


def test_an_incident_like_no_other_has_an_empty_list(reader: Client) -> None:
    this = IncidentFactory()

    assert reader.get(f"/api/v1/incidents/{this.pk}/similar").json() == []
