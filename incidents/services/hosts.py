"""Where a host stands."""

from django.db import transaction

from incidents.choices import HostState
from incidents.exceptions import InvalidInput
from incidents.models import Host
from incidents.roles import Actor, Capability
from incidents.services.events import record


@transaction.atomic
def set_state(*, actor: Actor, host: Host, state: HostState, note: str = "") -> Host:
    """Notes that a host was isolated, repaired, or returned to service; nothing is executed."""
    actor.require(Capability.OPERATE)
    if state not in HostState.values:
        raise InvalidInput("Unknown state of a host.", field="state")
    host = Host.objects.select_for_update().get(pk=host.pk)
    before = HostState(host.state)
    host.state = state
    host.save(update_fields=["state"])
    text = f"{host}: {before.label.lower()} → {HostState(state).label.lower()}"
    record(
        actor=actor,
        verb="host.state",
        text=f"{text}: {note.strip()}" if note.strip() else text,
        host=host,
        data={"before": before.value, "state": state},
    )
    return host
