"""What every page has in common: a login, a policy without inline script, pages for errors."""

import json
import re

import pytest
from django.test import Client

from aegis_web import health
from incidents.choices import Role
from tests.factories import DiagnosisFactory, HostFactory, JobFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def everything() -> list[str]:
    """The address of every kind of page, each with something on it."""
    run = DiagnosisFactory(done=True)
    job, host = JobFactory(), HostFactory()
    return [
        "/",
        "/incidents/new",
        f"/incidents/{run.incident_id}",
        "/jobs",
        f"/jobs/{job.pk}",
        "/hosts",
        f"/hosts/{host.pk}",
        f"/incidents/{run.incident_id}/report",
        "/clusters",
        f"/clusters/{host.cluster_id}",
        "/reports",
        "/glossary",
    ]


@pytest.fixture
def admin() -> Client:
    client = Client()
    client.force_login(UserFactory(role=Role.ADMIN))
    return client


def test_no_page_has_inline_script_or_handlers(everything: list[str], admin: Client):
    for address in everything:
        page = admin.get(address).content.decode()
        assert re.search(r"<script(?![^>]*\bsrc=)", page) is None, address
        assert re.search(r"\son[a-z]+=", page) is None, address
        assert re.search(r"\sstyle=", page) is None, address


def test_the_policy_allows_scripts_from_here_alone(admin: Client):
    policy = admin.get("/")["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe-eval" not in policy


def test_every_page_needs_a_login(everything: list[str]):
    for address in everything:
        response = Client().get(address)
        assert (response.status_code, response["Location"]) == (302, f"/login?next={address}")


def test_a_live_part_whose_login_ended_is_told_where_to_log_in_and_stays():
    response = Client().get("/", headers={"HX-Request": "true"})
    assert response.status_code == 401
    assert json.loads(response["HX-Trigger"])["signedout"]["login"].startswith("/login")


def test_someone_logs_in_and_out():
    person = UserFactory(username="anna")
    person.set_password("correct horse")
    person.save()
    client = Client()
    logged_in = client.post("/login", {"username": "anna", "password": "correct horse"})
    assert logged_in["Location"] == "/"
    assert client.post("/logout")["Location"] == "/login"
    assert client.get("/").status_code == 302


def test_a_wrong_password_is_told_without_saying_which_was_wrong():
    page = Client().post("/login", {"username": "x", "password": "y"}).content.decode()
    assert "do not belong together" in page


def test_too_many_failed_log_ins_say_how_long_to_wait(settings):
    settings.AXES_ENABLED = True
    settings.AXES_FAILURE_LIMIT = 2
    for _ in range(2):
        response = Client().post("/login", {"username": "x", "password": "y"})
    assert response.status_code == 429
    assert "15 min" in response.content.decode()


def test_an_address_without_page_is_answered_in_the_same_look(admin: Client):
    response = admin.get("/nothing/here")
    assert response.status_code == 404
    assert "nothing at this address" in response.content.decode()


def test_a_defect_is_answered_with_what_to_do(admin: Client, monkeypatch):
    admin.raise_request_exception = False
    monkeypatch.setattr("incidents.views.desk.desk_rows", None)
    response = admin.get("/")
    assert response.status_code == 500
    assert "Something broke" in response.content.decode()


def test_health_needs_no_login_and_tells_of_database_and_broker(client, monkeypatch):
    monkeypatch.setattr(health, "broker_answers", lambda: True)
    response = client.get("/health")
    assert response.json() == {"status": "ok", "database": "ok", "broker": "ok"}


def test_health_without_a_broker_still_serves(client, settings, tmp_path):
    response = client.get("/health")
    assert response.status_code == 200
    assert response.json()["broker"] == "unreachable"
