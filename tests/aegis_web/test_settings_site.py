"""The admin site as a part of the product."""

from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse

from incidents.choices import Role
from tests.factories import IncidentFactory, UserFactory

pytestmark = pytest.mark.django_db


def client_of(role: Role) -> Client:
    client = Client()
    client.force_login(UserFactory(role=role))
    return client


@pytest.mark.parametrize("role", [Role.VIEWER, Role.RESPONDER])
def test_whom_the_settings_are_not_for_gets_the_products_403(role: Role):
    answer = client_of(role).get(reverse("admin:index"), follow=True)
    assert answer.status_code == 403
    assert "Settings are for taxonomists" in answer.content.decode()


def test_there_is_one_log_in():
    answer = Client().get("/admin/login/?next=/admin/incidents/")
    assert (answer.status_code, answer["Location"]) == (302, "/login?next=/admin/incidents/")


def test_a_foreign_address_is_not_followed_after_the_log_in():
    person = UserFactory()
    person.set_password("a long password")
    person.save()
    given = {"username": person.username, "password": "a long password"}
    answer = Client().post("/login", {**given, "next": "https://elsewhere.example/"})
    assert answer["Location"] == "/"


def test_times_have_24_hours_and_their_zone():
    IncidentFactory(opened_at=datetime(2026, 11, 30, 17, 39, 5, tzinfo=UTC))
    page = client_of(Role.ADMIN).get(reverse("admin:incidents_incident_changelist"))
    assert "2026-11-30 17:39:05 UTC" in page.content.decode()


def test_failed_log_ins_are_named_so():
    page = client_of(Role.ADMIN).get(reverse("admin:index")).content.decode()
    assert "Log-in attempts" in page
    assert "Axes" not in page


def test_no_page_of_the_settings_has_inline_script():
    page = client_of(Role.ADMIN).get(reverse("admin:index")).content.decode()
    assert "<script>" not in page
