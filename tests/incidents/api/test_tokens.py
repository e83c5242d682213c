"""Tokens: which ones are taken, and how they are issued and revoked."""

from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone
from rest_framework.test import APIClient

from incidents.choices import Role
from incidents.models import ApiToken, Event, User
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
Program = Callable[..., APIClient]
ME = "/api/v1/me"


def asked(client: APIClient) -> int:
    return client.get(ME).status_code


def request(**more: object) -> dict[str, object]:
    later = (timezone.now() + timedelta(days=3)).isoformat()
    return {"name": "tickets", "scopes": ["read"], "expires_at": later, **more}


def test_a_token_says_who_asks_and_what_that_allows(program: Program):
    owner = UserFactory(role=Role.RESPONDER)
    told = program(Role.RESPONDER, "read", owner=owner).get(ME).json()
    assert (told["username"], told["role"]) == (owner.username, "responder")
    assert told["capabilities"] == ["read"]
    assert told["token"]["scopes"] == ["read"]


def test_an_expired_token_is_refused(api: APIClient):
    with time_machine.travel(timezone.now() + timedelta(days=2)):
        assert asked(api) == 401


def test_a_revoked_token_is_refused(api: APIClient):
    token = ApiToken.objects.get()
    assert api.delete(f"/api/v1/tokens/{token.pk}").status_code == 204
    assert asked(api) == 401


def test_a_token_of_someone_inactive_is_refused(api: APIClient):
    User.objects.update(is_active=False)
    assert asked(api) == 401


def test_a_token_loses_what_its_owner_loses(api: APIClient):
    User.objects.update(role=Role.VIEWER)
    assert api.post("/api/v1/incidents", {"title": "x"}, format="json").status_code == 403


@pytest.mark.parametrize("raw", ["", "aegis_", "aegis_abc_wrong", "other", "aegis_\xe9_x"])
def test_an_unknown_token_is_refused_with_a_challenge(db: None, raw: str):
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {raw}")
    answer = client.get(ME)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == 'Bearer realm="aegis", error="invalid_token"'
    assert answer.json()["type"] == "/api/v1/problems/invalid-token"


def test_the_word_bearer_is_taken_in_any_case(api: APIClient):
    raw = api.post("/api/v1/tokens", request(), format="json").json()["token"]
    assert APIClient().get(ME, HTTP_AUTHORIZATION=f"bEARER {raw}").status_code == 200


def test_the_text_of_a_new_token_works_and_is_not_shown_again(api: APIClient):
    issued = api.post("/api/v1/tokens", request(), format="json")
    assert issued.status_code == 201
    other = APIClient()
    other.credentials(HTTP_AUTHORIZATION=f"Bearer {issued.json()['token']}")
    assert asked(other) == 200
    assert "token" not in api.get(issued["Location"]).json()


def test_the_replayed_answer_does_not_show_the_text_again(api: APIClient):
    first, second = (
        api.post("/api/v1/tokens", body, format="json", HTTP_IDEMPOTENCY_KEY="k")
        for body in [request()] * 2
    )
    assert first.json()["token"].startswith("aegis_")
    assert second.json() == {**first.json(), "token": None}


def test_nobody_gives_away_more_than_they_may_do_themselves(api: APIClient):
    answer = api.post("/api/v1/tokens", request(scopes=["administer"]), format="json")
    assert answer.status_code == 403
    assert ApiToken.objects.count() == 1


def test_a_time_in_the_past_is_refused_by_field(api: APIClient):
    answer = api.post("/api/v1/tokens", request(expires_at="2020-01-01T00:00:00Z"), format="json")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "#/expires_at"


def test_issuing_and_revoking_are_in_the_timeline(api: APIClient):
    issued = api.post("/api/v1/tokens", request(), format="json")
    api.delete(issued["Location"])
    verbs = Event.objects.order_by("-id").values_list("verb", "source")[:2]
    assert list(verbs) == [("token.revoked", "api"), ("token.issued", "api")]
