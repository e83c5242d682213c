"""`Idempotency-Key`: a request that is sent twice acts once."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from incidents.api import idempotency as api_idempotency
from incidents.models import Evidence, IdempotencyKey, Incident, Job
from incidents.services import idempotency, incidents
from tests.factories import IncidentFactory, RecommendationFactory

Program = Callable[..., APIClient]
INCIDENTS = "/api/v1/incidents"
BODY = {"title": "hangs", "kind": "hang"}


def opened(client: APIClient, body: dict[str, Any] = BODY, key: str = "k-1") -> Any:
    return client.post(INCIDENTS, body, format="json", HTTP_IDEMPOTENCY_KEY=key)


@pytest.mark.django_db
def test_the_same_key_and_body_get_the_first_answer_again(api: APIClient):
    first, second = opened(api), opened(api)
    assert Incident.objects.count() == 1
    assert (second.status_code, second.json()) == (first.status_code, first.json())
    assert second["Location"] == first["Location"]
    assert second["ETag"] == first["ETag"]
    assert second["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first


@pytest.mark.django_db
def test_the_first_answer_stands_even_after_the_record_changed(api: APIClient):
    first = opened(api)
    change = {"status": "acknowledged"}
    api.patch(first["Location"], change, format="json", HTTP_IF_MATCH="*")
    assert opened(api).json()["status"] == "triggered"


@pytest.mark.django_db
def test_the_order_of_the_bodys_keys_does_not_matter(api: APIClient):
    opened(api)
    assert opened(api, {"kind": "hang", "title": "hangs"}).status_code == 201
    assert Incident.objects.count() == 1


@pytest.mark.django_db
def test_another_body_is_refused_with_422(api: APIClient):
    opened(api)
    other = opened(api, {"title": "something else"})
    assert other.status_code == 422
    assert other.json()["type"] == "/api/v1/problems/idempotency-mismatch"


@pytest.mark.django_db
def test_the_same_key_at_another_address_is_another_request(api: APIClient):
    opened(api)
    body = {"external_id": "1"}
    answer = api.post("/api/v1/jobs", body, format="json", HTTP_IDEMPOTENCY_KEY="k-1")
    assert answer.status_code == 422


@pytest.mark.django_db
def test_keys_belong_to_the_token_that_sent_them(program: Program):
    assert opened(program()).status_code == opened(program()).status_code == 201
    assert Incident.objects.count() == 2


@pytest.mark.django_db
def test_a_request_that_failed_frees_its_key_for_the_mended_one(api: APIClient):
    assert opened(api, {"title": ""}).status_code == 400
    assert opened(api).status_code == 201


@pytest.mark.django_db
def test_while_the_first_is_worked_on_the_second_gets_409(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
):
    answers: list[int] = []
    opening = incidents.open_incident

    def slow(**given: Any) -> Any:
        if not answers:
            answers.append(0)
            answers.append(opened(api).status_code)
        return opening(**given)

    monkeypatch.setattr(incidents, "open_incident", slow)
    assert opened(api).status_code == 201
    assert answers == [0, 409]


@pytest.mark.django_db
def test_a_claim_that_a_dead_process_left_is_taken_over(api: APIClient):
    opened(api)
    IdempotencyKey.objects.update(status=None)
    assert opened(api).status_code == 409
    with time_machine.travel(timezone.now() + idempotency.CLAIM_HOLDS + timedelta(seconds=1)):
        assert opened(api).status_code == 201


@pytest.mark.django_db
def test_a_request_whose_claim_was_taken_over_leaves_nothing_behind(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
):
    opening = incidents.open_incident

    def overtaken(**given: Any) -> Any:
        IdempotencyKey.objects.update(claim="another")
        return opening(**given)

    monkeypatch.setattr(incidents, "open_incident", overtaken)
    assert opened(api).status_code == 409
    assert not Incident.objects.exists()


@pytest.mark.django_db
def test_a_day_later_the_key_is_free(api: APIClient, program: Program):
    opened(api)
    IdempotencyKey.objects.update(claimed_at=timezone.now() - idempotency.KEPT_FOR)
    assert "Idempotency-Replayed" not in opened(api)
    assert IdempotencyKey.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["", " ", "a b", "\xe9", "x" * 256])
def test_a_key_that_cannot_be_kept_is_refused(api: APIClient, key: str):
    assert opened(api, key=key).status_code == 400


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("place", "body"),
    [
        ("jobs", {"external_id": "7"}),
        ("incidents", {"title": "x"}),
        ("incidents/{incident}/notes", {"text": "x"}),
        ("incidents/{incident}/diagnoses", {}),
        ("recommendations/{recommendation}/decisions", {"kind": "accept"}),
    ],
)
def test_every_creating_call_takes_a_key(api: APIClient, place: str, body: dict[str, str]):
    keys = {"incident": IncidentFactory().pk, "recommendation": RecommendationFactory().pk}
    answers = [
        api.post(f"/api/v1/{place.format(**keys)}", body, format="json", HTTP_IDEMPOTENCY_KEY="key")
        for _ in range(2)
    ]
    assert answers[0].json() == answers[1].json()
    assert answers[1]["Idempotency-Replayed"] == "true"


@pytest.mark.django_db
def test_an_upload_with_the_same_key_and_bytes_gets_the_first_answer_again(api: APIClient):
    first, second = (upload(api, b"Xid 95") for _ in range(2))
    assert (first.status_code, second.json()) == (201, first.json())
    assert second["Idempotency-Replayed"] == "true"


@pytest.mark.django_db
def test_an_upload_with_the_same_key_and_other_bytes_is_refused(api: APIClient):
    upload(api, b"Xid 95")
    assert upload(api, b"Xid 79").status_code == 422
    assert Evidence.objects.count() == 1


def upload(client: Any, content: bytes) -> Any:
    incident = Incident.objects.first() or IncidentFactory()
    return client.generic(
        "POST",
        f"{INCIDENTS}/{incident.pk}/evidence?name=node-1.dmesg.log",
        content,
        content_type="application/octet-stream",
        HTTP_IDEMPOTENCY_KEY="upload",
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(
    connection.vendor == "sqlite", reason="SQLite's test database lives in one thread's memory"
)
def test_of_many_at_once_one_acts_and_the_others_wait_or_repeat(api: APIClient):
    start, statuses = threading.Barrier(6), []

    def send() -> None:
        start.wait()
        body = {"external_id": "once"}
        answer = api.post("/api/v1/jobs", body, format="json", HTTP_IDEMPOTENCY_KEY="many")
        statuses.append(answer.status_code)
        connection.close()

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Job.objects.count() == 1
    assert set(statuses) <= {201, 409}


def test_a_fingerprint_tells_method_address_and_content_apart(rf: Any):
    def of(method: str, path: str, content: object) -> str:
        return api_idempotency.fingerprint_of(rf.generic(method, path), content)

    told = {of("POST", "/a", 1), of("PUT", "/a", 1), of("POST", "/b", 1), of("POST", "/a", 2)}
    assert len(told) == 4
