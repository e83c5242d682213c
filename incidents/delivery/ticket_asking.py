"""Asking ticket systems how their tickets stand; one worker a system at a time."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from jmespath.exceptions import JMESPathError

from incidents.choices import OPEN_STATUSES, SubscriptionState, TicketState
from incidents.delivery.address import UnresolvedError
from incidents.delivery.http import UnreachableError
from incidents.delivery.ticket_client import TicketClient, TicketRefused
from incidents.delivery.tickets import remote_of, system_of
from incidents.exceptions import DestinationRefused, SealBroken
from incidents.models import TicketConnector, TicketLink
from incidents.services.ticket_news import Told, take_news

#: Tickets that one round asks for, those that were asked longest ago first.
_MOST = 200
#: A resolved incident's ticket is still asked for so long: someone may reopen it there.
_AFTERWARDS = timedelta(days=1)
_FAULTS = (
    TicketRefused,
    UnreachableError,
    UnresolvedError,
    DestinationRefused,
    SealBroken,
    LookupError,
    TypeError,
    AttributeError,
    JMESPathError,
)


def connectors_due(now: datetime) -> Sequence[int]:
    """The ticket systems that keep tickets in step and were not asked for a while."""
    late = Q(asked_at=None) | Q(asked_at__lte=now - _interval())
    due = TicketConnector.objects.filter(
        late, state=SubscriptionState.ACTIVE, tickets__state=TicketState.LIVE
    )
    return list(due.distinct().order_by("pk").values_list("pk", flat=True))


def ask(connector_id: int) -> int:
    """Takes in what one system says of its tickets, and tells of how many it spoke."""
    now = timezone.now()
    late = Q(asked_at=None) | Q(asked_at__lte=now - _interval())
    if not TicketConnector.objects.filter(late, pk=connector_id).update(asked_at=now):
        return 0
    connector = TicketConnector.objects.get(pk=connector_id)
    links = {(one.remote_id or one.key): one for one in _asked_for(connector, now)}
    if not links:
        return 0
    client = TicketClient(connector)
    try:
        found = system_of(connector, client).ask([remote_of(one) for one in links.values()])
    except _FAULTS as fault:
        TicketConnector.objects.filter(pk=connector_id).update(asking_failed=str(fault)[:1000])
        return 0
    for remote in found:
        link = links.get(remote.remote_id or remote.key)
        if link is not None:
            notes = [Told(one.cursor, one.author, one.text) for one in remote.notes]
            take_news(link, status=remote.status, notes=notes)
    TicketConnector.objects.filter(pk=connector_id).update(asking_failed="")
    return len(found)


def _asked_for(connector: TicketConnector, now: datetime) -> list[TicketLink]:
    alive = Q(incident__status__in=OPEN_STATUSES) | Q(incident__resolved_at__gt=now - _AFTERWARDS)
    rows = TicketLink.objects.filter(alive, connector=connector, state=TicketState.LIVE)
    return list(rows.select_related("incident").order_by("status_at", "id")[:_MOST])


def _interval() -> timedelta:
    return timedelta(seconds=settings.TICKET_POLL_SECONDS)
