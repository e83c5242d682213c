"""POST /api/v1/attempts/{id}/progress, and what the watch makes of it."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from diagnosis.models import LiveState
from diagnosis.simulator.progress import LiveJob
from diagnosis.simulator.scenarios import simulate
from incidents.choices import JobState, Role
from incidents.models import Attempt
from incidents.services import tokens
from incidents.services.jobs import end_attempt
from tests.diagnosis.watched import ROBOT, beat_at
from tests.factories import AttemptFactory, UserFactory, actor

pytestmark = pytest.mark.django_db


def client(*scopes: str) -> APIClient:
    issued = tokens.issue(
        actor=actor(Role.ADMIN),
        owner=UserFactory(role=Role.OPERATOR),
        name="launcher",
        scopes=scopes,
        expires_at=timezone.now() + timedelta(hours=1),
    )
    made = APIClient()
    made.credentials(HTTP_AUTHORIZATION=f"Bearer {issued.raw}")
    return made


@pytest.fixture
def launcher() -> APIClient:
    return client("read", "register_jobs")


@pytest.fixture
def attempt() -> Attempt:
    made: Attempt = AttemptFactory(started_at=timezone.now() - timedelta(hours=1))
    return made


def post(api: APIClient, attempt: Attempt, body: Any) -> Any:
    return api.post(f"/api/v1/attempts/{attempt.pk}/progress", body, format="json")


def body(*reports: dict[str, Any], ago: float = 5.0) -> dict[str, Any]:
    return {"time": time.time() - ago, "reports": list(reports)}


def test_reports_are_taken_and_counted(launcher: APIClient, attempt: Attempt):
    answer = post(launcher, attempt, body({"rank": 0, "step": 1}, {"rank": 1}))

    assert answer.status_code == 200
    assert answer.json() == {"reports": 2, "late": 0, "ranks": 2}


def test_the_same_call_again_changes_nothing(launcher: APIClient, attempt: Attempt):
    once = body({"rank": 0, "step": 1})
    post(launcher, attempt, once)
    before = bytes(LiveState.objects.get().state)

    answer = post(launcher, attempt, once)

    assert answer.json() == {"reports": 1, "late": 1, "ranks": 1}
    assert bytes(LiveState.objects.get().state) == before


def test_a_bad_row_refuses_the_call_and_is_pointed_at(launcher: APIClient, attempt: Attempt):
    answer = post(launcher, attempt, body({"rank": 0}, {"rank": "one"}, {"rank": 2, "phase": "x"}))

    assert answer.status_code == 400
    assert [error["pointer"] for error in answer.json()["errors"]] == [
        "#/reports/1/rank",
        "#/reports/2/phase",
    ]
    assert not LiveState.objects.exists()


def test_a_time_to_come_is_refused(launcher: APIClient, attempt: Attempt):
    answer = post(launcher, attempt, body({"rank": 0}, ago=-3600))

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "#/time"


def test_an_attempt_that_ended_is_followed_no_longer(launcher: APIClient, attempt: Attempt):
    end_attempt(actor=ROBOT, attempt=attempt, outcome=JobState.FAILED)

    answer = post(launcher, attempt, body({"rank": 0}))

    assert answer.status_code == 409
    assert "has ended" in answer.json()["detail"]


def test_it_takes_the_scope_to_register_jobs(attempt: Attempt):
    assert post(client("read", "respond"), attempt, body({"rank": 0})).status_code == 403


def test_an_unknown_attempt_is_not_found(launcher: APIClient):
    assert launcher.post("/api/v1/attempts/999/progress", {}, format="json").status_code == 404


def test_512_ranks_in_one_call_take_less_than_a_tenth_of_a_second(
    launcher: APIClient, attempt: Attempt
):
    run = simulate("hang_compute", seed=3, hosts=64).run
    job = LiveJob.that_stops_after(run, start=time.time() - 600, seconds=300)
    bodies = [job.body(time.time() - 100 + number) for number in range(15)]
    took = []
    for one in bodies:
        began = time.process_time()
        assert post(launcher, attempt, one).status_code == 200
        took.append(time.process_time() - began)

    assert min(took) < 0.1


def test_what_the_watch_last_saw_can_be_read(launcher: APIClient, attempt: Attempt):
    post(launcher, attempt, body({"rank": 0, "step": 1}))
    address = f"/api/v1/attempts/{attempt.pk}/watch"
    assert launcher.get(address).status_code == 404

    beat_at(time.time())
    beat_at(time.time() + 70)

    seen = launcher.get(address).json()
    assert seen["verdict"] in {"healthy", "cannot tell"}
    assert seen["coverage"]["ranks"] == {"expected": 1, "reported": 1}
    assert seen["judged_at"] is not None
