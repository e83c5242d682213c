"""Who hears of an event does not depend on how far its actor reaches."""

import pytest

from incidents.models import WebhookDelivery
from incidents.reach import Reach, within
from incidents.services import webhooks
from incidents.services.incidents import add_note
from tests.factories import IncidentFactory, actor

pytestmark = pytest.mark.django_db


def test_a_webhook_of_all_clusters_hears_what_someone_limited_does():
    webhooks.subscribe(actor=actor(), name="all", url="https://a.example/")
    incident = IncidentFactory()
    with within(Reach.of(clusters=[incident.cluster.name], owners=[])):
        add_note(actor=actor(), incident=incident, text="looked at it")
    assert WebhookDelivery.objects.filter(verb="incident.noted").count() == 1
