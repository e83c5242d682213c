"""Reports over REST."""

import pytest
from django.test import Client

from tests.factories import UserFactory
from tests.incidents.views.test_reports import decided

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(db) -> Client:

    client = Client()
    client.force_login(UserFactory(role="viewer"))
    return client


def test_figures_over_time_come_with_the_whole_and_the_time_before(reader: Client) -> None:
    decided()

    found = reader.get("/api/v1/reports/over-time").json()

    assert (found["total"]["incidents"], found["before"]["incidents"]) == (1, 0)
    assert sum(step["incidents"] for step in found["steps"]) == 1


def test_rules_come_with_their_precision(reader: Client) -> None:
    decided()

    rules = reader.get("/api/v1/reports/rules").json()

    assert {"kind": "fault", "code": "xid-79", "precision": 1.0}.items() <= rules[-1].items()


def test_a_parameter_that_does_not_exist_is_refused(reader: Client) -> None:
    answer = reader.get("/api/v1/reports/faults?clutser=north")

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["parameter"] == "clutser"


def test_a_day_that_is_none_is_refused(reader: Client) -> None:
    answer = reader.get("/api/v1/reports/faults?since=yesterday")

    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (400, "since")
