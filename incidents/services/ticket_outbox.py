"""What tickets are told: written in the transaction of the event, sent by the outbox."""

from django.conf import settings
from django.db.models import Q

from incidents.choices import SubscriptionState, TicketState
from incidents.models import Event, TicketConnector, TicketLink
from incidents.reach import EVERYWHERE, within
from incidents.ticket_kinds import STATUS_AFTER, TOLD

_LEADS_TO = {status.value: verb for verb, status in STATUS_AFTER.items()}


def label_of(connector: TicketConnector) -> str:
    """Under which name a ticket system acts on the timeline."""
    return f"{connector.name} (ticket system)"


def tickets_told(event: Event) -> list[TicketLink]:
    """The tickets that are kept in step with the event's incident and want to hear of it.

    One that is being opened hears of it afterwards: messages to a system go out in order. A ticket
    system is not told what it said itself.
    """
    verb = _heard_as(event)
    if event.incident_id is None or not _is_told(verb):
        return []
    about = Q(incident=event.incident_id) | Q(incident__merged_into=event.incident_id)
    with within(EVERYWHERE):
        told = TicketLink.objects.filter(about, state__in=[TicketState.LIVE, TicketState.WANTED])
        told = told.filter(connector__state=SubscriptionState.ACTIVE).order_by("id")
        return [
            one
            for one in told.select_related("connector")
            if one.connector and one.connector.wants(verb)
            if event.actor != label_of(one.connector)
        ]


def told_of(event: Event) -> dict[str, object]:
    """What a ticket is told of an event; `mark` finds a note that is there already."""
    mark = f"[Aegis evt_{event.pk}]"
    lines = [f"{event.actor}: {event.text}"]
    if event.incident_id is not None:
        lines.append(f"{settings.PUBLIC_URL}/incidents/{event.incident_id}")
    status = STATUS_AFTER.get(_heard_as(event))
    return {
        "do": "tell",
        "note": "\n".join([*lines, mark]),
        "mark": mark,
        "status": status.value if status else None,
    }


def _heard_as(event: Event) -> str:
    """The verb by which a ticket hears of it: a step that was taken back is the step to where the
    incident stands now, and none where its status stayed.
    """
    if event.verb != "incident.reverted":
        return event.verb
    before, after = (event.data[time]["status"] for time in ("before", "after"))
    return _LEADS_TO[after] if before != after else ""


def _is_told(verb: str) -> bool:
    """Whether any connector could want it: asked before the database is."""
    return verb in TOLD or verb.startswith(("recommendation.", "diagnosis.", "incident."))
