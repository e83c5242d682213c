"""Where a host stands."""

from django.db import transaction

from incidents.choices import HostState
from incidents.exceptions import InvalidInput, TransitionRefused
from incidents.models import Event, Host
from incidents.roles import Actor, Capability
from incidents.services.events import record

#: The event of a passed delivery check; what comes after it opens the way back into service.
PASSED_CHECK = "host.passed-check"
CHANGED = "host.state"
_OUT = (HostState.ISOLATED, HostState.IN_REPAIR)


def _is_out(host: Host, before: HostState) -> bool:
    """Whether the host was taken out of service, also where it is being checked since."""
    return before in _OUT or (before == HostState.BEING_CHECKED and _taken_out(host) > 0)


def _taken_out(host: Host) -> int:
    """The event by which the host was last taken out of service; 0 for none."""
    states = [str(state) for state in _OUT]
    found = Event.objects.filter(host=host, verb=CHANGED, data__state__in=states)
    return found.order_by("-id").values_list("id", flat=True).first() or 0


def has_passed_check(host: Host) -> bool:
    """Whether the host passed a delivery check after it was last taken out of service."""
    passed = Event.objects.filter(host=host, verb=PASSED_CHECK)
    return passed.filter(id__gt=_taken_out(host)).exists()


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
    returns = state == HostState.IN_SERVICE and _is_out(host, before)
    if returns and not note.strip() and not has_passed_check(host):
        raise TransitionRefused(
            f"{host} has passed no delivery check since it was taken out of service. Check it "
            "first, or say in the note why it may return without."
        )
    host.state = state
    host.save(update_fields=["state"])
    text = f"{host}: {before.label.lower()} → {HostState(state).label.lower()}"
    record(
        actor=actor,
        verb=CHANGED,
        text=f"{text}: {note.strip()}" if note.strip() else text,
        host=host,
        data={"before": before.value, "state": state},
    )
    return host
