"""Where a host stands."""

from django.db import transaction

from incidents.choices import HostState
from incidents.exceptions import InvalidInput, TransitionRefused
from incidents.models import Host
from incidents.roles import Actor, Capability
from incidents.services.events import record


@transaction.atomic
def set_state(
    *, actor: Actor, host: Host, state: HostState, note: str = "", seen_state: str = ""
) -> Host:
    """Notes that a host was isolated, repaired, or returned to service; nothing is executed.

    Raises `TransitionRefused` where it no longer stands where the actor saw it (`seen_state`).
    """
    actor.require(Capability.OPERATE)
    if state not in HostState.values:
        raise InvalidInput("Unknown state of a host.", field="state")
    host = Host.objects.select_for_update().get(pk=host.pk)
    before = HostState(host.state)
    if seen_state and seen_state != before:
        raise TransitionRefused(f"{host} is {before.label.lower()} by now; nothing was changed.")
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
