"""Endpoints on this machine, which only tests may send to."""

from collections.abc import Callable, Iterator

import pytest

from incidents.delivery.address import networks
from incidents.models import WebhookDelivery, WebhookSubscription
from incidents.services import webhooks
from tests.factories import actor
from tests.receivers import Receiver, receiver

Subscribe = Callable[..., WebhookSubscription]


@pytest.fixture(autouse=True)
def _this_machine_allowed(settings) -> None:
    settings.WEBHOOK_NETWORKS = networks(["127.0.0.0/8", "::1"])


@pytest.fixture
def endpoint() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


@pytest.fixture
def subscribe(db: None, endpoint: Receiver) -> Subscribe:
    """Makes an active subscription to the endpoint."""

    def make(*events: str, **more: object) -> WebhookSubscription:
        given = {"name": "tickets", "url": f"{endpoint.url}/hook", **more}
        return webhooks.subscribe(actor=actor(), events=events, **given).subscription  # type: ignore[arg-type]

    return make


def states() -> list[str]:
    """Where every message stands, oldest first."""
    return list(WebhookDelivery.objects.order_by("id").values_list("state", flat=True))
