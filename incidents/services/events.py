"""How a service adds to the timeline."""

from collections.abc import Mapping

from incidents.models import Event, Host, Incident, Job
from incidents.roles import Actor
from incidents.services.outbox import enqueue


def record(
    *,
    actor: Actor,
    verb: str,
    text: str,
    incident: Incident | None = None,
    job: Job | None = None,
    host: Host | None = None,
    data: Mapping[str, object] | None = None,
) -> Event:
    """Adds one event, and the messages that tell webhooks of it, in the caller's transaction."""
    event = Event.objects.create(
        verb=verb,
        text=text,
        actor=actor.label,
        user_id=actor.user_id,
        source=actor.source,
        incident=incident,
        job=job or (incident.job if incident else None),
        host=host,
        data=dict(data or {}),
    )
    enqueue(event)
    return event
