"""Sessions: what their cookies allow, when they change, and when they end."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.conf import settings as ours
from django.test import Client

from incidents.models import Event
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "a long test password"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def person(db: None):
    made = UserFactory(username="anna")
    made.set_password(PASSWORD)
    made.save()
    return made


def log_in(client: Client, password: str = PASSWORD):
    return client.post("/login", {"username": "anna", "password": password})


def test_a_log_in_begins_a_session_under_a_new_key(client: Client, person):
    session = client.session
    session["before"] = 1
    session.save()
    client.cookies[ours.SESSION_COOKIE_NAME] = str(session.session_key)
    log_in(client)
    assert client.session.session_key != session.session_key


def test_no_script_and_no_other_site_gets_the_session(client: Client, person):
    cookie = log_in(client).cookies[ours.SESSION_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


def test_a_session_that_nobody_uses_ends(client: Client, person):
    with time_machine.travel(NOON, tick=False) as clock:
        log_in(client)
        assert client.get("/jobs").status_code == 200
        clock.move_to(NOON + timedelta(seconds=ours.SESSION_IDLE_SECONDS + 1))
        assert client.get("/jobs").headers["Location"].startswith("/login")


def test_a_page_that_refreshes_itself_keeps_no_session_alive(client: Client, person):
    half = timedelta(seconds=ours.SESSION_IDLE_SECONDS * 0.6)
    with time_machine.travel(NOON, tick=False) as clock:
        log_in(client)
        client.get("/jobs")
        clock.move_to(NOON + half)
        assert client.get("/jobs", headers={"HX-Request": "true"}).status_code == 200
        clock.move_to(NOON + 2 * half)
        assert client.get("/jobs").status_code == 302


def test_a_session_that_is_used_goes_on(client: Client, person):
    half = timedelta(seconds=ours.SESSION_IDLE_SECONDS * 0.6)
    with time_machine.travel(NOON, tick=False) as clock:
        log_in(client)
        for step in range(4):
            clock.move_to(NOON + step * half)
            assert client.get("/jobs").status_code == 200


def test_a_log_in_that_failed_is_on_the_timeline(client: Client, person):
    log_in(client, "wrong")
    event = Event.objects.get(verb="user.login_failed")
    assert event.text == "Log-in as anna failed from 127.0.0.1"
    assert event.data["user"] == person.pk


def test_a_name_that_may_be_a_password_is_not_repeated(client: Client):
    client.post("/login", {"username": "hunter2", "password": "anna"})
    event = Event.objects.get(verb="user.login_failed")
    assert "hunter2" not in event.text + json.dumps(event.data)


@pytest.mark.parametrize("page", ["/jobs", "/admin/"])
def test_who_has_no_password_is_offered_no_change_of_it(client: Client, page: str):
    person = UserFactory(role="admin")
    person.set_unusable_password()
    person.save()
    client.force_login(person)
    assert "Change password" not in client.get(page).content.decode()


def test_the_server_set_up_passes_the_deployment_check(tmp_path: Path):
    environment = {
        **os.environ,
        "AEGIS_DATA_DIR": str(tmp_path),
        "AEGIS_SECRET_KEY": "k7" * 40 + "-_!xYzQ",
        "AEGIS_TLS": "1",
        "AEGIS_ALLOWED_HOSTS": "aegis.example",
        "DATABASE_URL": "postgres://aegis@localhost/aegis",
        "REDIS_URL": "redis://localhost",
    }
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
