"""The doors for alerts over REST."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from django.db import OperationalError
from django.utils import timezone
from rest_framework.test import APIClient

from incidents.choices import Role
from incidents.models import Inbox, InboxMessage
from incidents.services import inbox, tokens
from tests.factories import UserFactory, actor

pytestmark = pytest.mark.django_db
ALERT = {"version": "4", "alerts": [{"labels": {"alertname": "x"}, "fingerprint": "f"}]}


def send(api: APIClient, body: Any, name: str = "alertmanager", **more: Any) -> Any:
    return api.post(f"/api/v1/inbox/{name}", body, format="json", **more)


@pytest.mark.parametrize("name", ["alertmanager", "cloudevents", "nvsentinel"])
def test_an_alert_is_stored_and_answered_at_once(api: APIClient, name: str):
    answer = send(api, ALERT, name)
    assert answer.status_code == 202
    assert InboxMessage.objects.get().body == ALERT


@pytest.mark.parametrize("body", [{}, {"alerts": []}, {"alerts": "odd"}, [], {"new": {"field": 1}}])
def test_odd_messages_are_kept_and_not_answered_with_an_error(api: APIClient, body: Any):
    assert send(api, body).status_code == 202


def test_a_nul_does_not_cost_the_alert(api: APIClient):
    raw = '{"alerts": [{"labels": {"alertname": "a\\u0000b"}, "fingerprint": "f"}]}'
    answer = api.generic("POST", "/api/v1/inbox/alertmanager", raw, "application/json")
    assert answer.status_code == 202


@pytest.mark.parametrize("kind", ["text/plain", "application/cloudevents+json", "application/json"])
def test_json_is_taken_under_any_name(api: APIClient, kind: str):
    answer = api.generic("POST", "/api/v1/inbox/cloudevents", '{"id": "1"}', kind)
    assert answer.status_code == 202


def test_where_nothing_can_be_stored_the_sender_is_told_to_come_again(api: APIClient):
    gone = OperationalError("server closed the connection")
    with mock.patch.object(InboxMessage.objects, "create", side_effect=gone):
        answer = send(api, ALERT)
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert answer.json()["type"].endswith("/unavailable")


def test_a_cloud_event_in_headers_is_the_one_that_it_stands_for(api: APIClient):
    headers = {"HTTP_CE_TYPE": "gpu.bad", "HTTP_CE_SOURCE": "/dcgm", "HTTP_CE_ID": "7"}
    send(api, {"host": "node-3"}, "cloudevents", **headers)
    assert InboxMessage.objects.get().body == {
        "type": "gpu.bad",
        "source": "/dcgm",
        "id": "7",
        "data": {"host": "node-3"},
    }


def test_an_unknown_inbox_is_not_there(api: APIClient):
    assert send(api, ALERT, "nobody").status_code == 404


def test_a_closed_inbox_is_not_there(api: APIClient):
    door = inbox.inbox_named("alertmanager")
    inbox.save_inbox(actor=actor(), inbox=door or Inbox(), fields={"enabled": False})
    assert send(api, ALERT).status_code == 404


@pytest.fixture
def routing_key() -> str:
    owner = UserFactory(role=Role.RESPONDER)
    until = timezone.now() + timedelta(days=1)
    return tokens.issue(
        actor=actor(Role.ADMIN), owner=owner, name="pd", scopes=["respond"], expires_at=until
    ).raw


def event(**more: Any) -> dict[str, Any]:
    payload = {"summary": "XID 79", "source": "node-017", "severity": "critical"}
    return {"event_action": "trigger", "payload": payload, **more}


def enqueue(body: Any) -> Any:
    return APIClient().post("/api/v1/inbox/pagerduty/v2/enqueue", body, format="json")


def test_a_pagerduty_client_signs_in_by_its_routing_key(routing_key: str):
    answer = enqueue(event(routing_key=routing_key, dedup_key="d"))
    assert (answer.status_code, answer.json()["dedup_key"]) == (202, "d")
    assert "routing_key" not in InboxMessage.objects.get().body


def test_an_event_without_a_key_is_given_one(routing_key: str):
    key = enqueue(event(routing_key=routing_key)).json()["dedup_key"]
    assert InboxMessage.objects.get().body["dedup_key"] == key


@pytest.mark.parametrize("key", ["", "R0UT1NG", "aegis_0_0", None, 7])
def test_a_routing_key_that_is_no_token_is_refused(key: object):
    assert enqueue(event(routing_key=key)).status_code == 401


@pytest.mark.parametrize("body", [[], event(event_action="explode"), {"payload": {}}])
def test_what_is_no_event_is_refused(routing_key: str, body: Any):
    if isinstance(body, dict):
        body = {**body, "routing_key": routing_key}
    assert enqueue(body).status_code in {400, 401}


MAPPING = {"key": "event.id", "title": "event.name", "hosts": "host", "status": "event.state"}


def test_a_mapping_of_ones_own_is_tried_before_it_is_used(api: APIClient):
    given = {"name": "zabbix", "mapping": MAPPING}
    made = api.post("/api/v1/inboxes", given, format="json").json()
    sample = {"event": {"id": 7, "name": "fan stopped", "state": "ok"}, "host": "node-3"}
    tried = api.post(f"/api/v1/inboxes/{made['id']}/try", {"sample": sample}, format="json")
    (found,) = tried.json()["alerts"]
    assert (found["key"], found["action"], found["hosts"]) == ("7", "resolve", ["node-3"])
    assert not InboxMessage.objects.exists()


def test_another_mapping_can_be_tried_without_saving_it(api: APIClient):
    made = api.post("/api/v1/inboxes", {"name": "z"}, format="json").json()
    given = {"sample": {"a": "1", "b": "t"}, "mapping": {"key": "a", "title": "b"}}
    tried = api.post(f"/api/v1/inboxes/{made['id']}/try", given, format="json").json()
    assert tried["alerts"][0]["title"] == "t"


def test_a_mapping_that_cannot_work_is_refused(api: APIClient):
    given = {"name": "z", "mapping": {"key": "a[", "title": "b"}}
    answer = api.post("/api/v1/inboxes", given, format="json")
    assert answer.json()["errors"][0]["pointer"] == "#/key"


def test_what_came_in_can_be_looked_up(api: APIClient):
    send(api, ALERT)
    door = Inbox.objects.get().pk
    (shown,) = api.get(f"/api/v1/inboxes/{door}/messages?state=waiting").json()["results"]
    assert shown["body"] == ALERT


def test_a_change_of_an_inbox_needs_the_state_that_was_seen(api: APIClient):
    made = api.post("/api/v1/inboxes", {"name": "z"}, format="json").json()
    address = f"/api/v1/inboxes/{made['id']}"
    assert api.patch(address, {"enabled": False}, format="json").status_code == 428
    changed = api.patch(address, {"enabled": False}, format="json", HTTP_IF_MATCH="*")
    assert changed.json()["enabled"] is False


def test_a_viewer_reports_nothing(program: Callable[..., APIClient]):
    assert send(program(Role.VIEWER), ALERT).status_code == 403
