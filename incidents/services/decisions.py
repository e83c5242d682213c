"""Deciding about recommendations, and noting what came of it."""

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from incidents.choices import Action, DecisionKind, HostState, Outcome
from incidents.commands import commands_for
from incidents.exceptions import InvalidInput, StaleVersion
from incidents.hostnames import what_is_wrong
from incidents.models import Decision, Host, Incident, Recommendation
from incidents.roles import Actor, Capability
from incidents.services import topology
from incidents.services.blast_radius import guard
from incidents.services.carrying import carry_on
from incidents.services.events import record
from incidents.services.offenders import rescore_after
from incidents.services.reckoning import reckon


@transaction.atomic
def decide(
    *,
    actor: Actor,
    recommendation: Recommendation,
    kind: DecisionKind,
    reason: str = "",
    changed_action: Action | None = None,
    changed_target: str = "",
    seen_decision: int | None = None,
    confirm: bool = False,
) -> Decision:
    """Accepts, rejects or changes a recommendation; an earlier decision on it no longer stands.

    Where a later run recommends the same, the decision stands there as well.

    `seen_decision` is the key of the decision that stood when the actor looked, 0 for none; where
    another one stands now, `StaleVersion` is raised and nothing changes.

    Nothing is executed: an isolation that was decided on marks the host as suspect, and the event
    carries the scheduler's command as text. Raises `InvalidInput` where reason or change lack, or
    the host of an isolation, and `TooManyIsolations` where so many hosts would be out that it
    takes a second word (`confirm`).
    """
    actor.require(Capability.RESPOND)
    _check(kind, reason, changed_action, changed_target.strip())
    recommendation = (
        Recommendation.objects.select_for_update(of=("self",))
        .select_related("diagnosis__incident__cluster")
        .get(pk=recommendation.pk)
    )
    _check_seen(recommendation, seen_decision)
    _check_host(recommendation, kind, changed_action, changed_target)
    _guard(actor, recommendation, kind, changed_action, changed_target, confirm=confirm)
    recommendation.decisions.filter(standing=True).update(standing=False)
    changes = kind == DecisionKind.CHANGE
    decision = Decision.objects.create(
        recommendation=recommendation,
        kind=kind,
        reason=reason.strip(),
        changed_action=changed_action or "" if changes else "",
        changed_target=changed_target.strip() if changes else "",
        actor=actor.label,
        user_id=actor.user_id,
    )
    carry_on(decision)
    rescore_after(recommendation.diagnosis.incident)
    reckon(recommendation.diagnosis.incident)
    _record(actor, decision, recommendation)
    return decision


@transaction.atomic
def record_outcome(
    *, actor: Actor, decision: Decision, outcome: Outcome, note: str = ""
) -> Decision:
    """Notes what came after a decision: did the job recover, did repair confirm the part."""
    actor.require(Capability.RESPOND)
    if outcome not in Outcome.values:
        raise InvalidInput("Say what came of it.", field="outcome")
    decision = Decision.objects.select_for_update().get(pk=decision.pk)
    decision.outcome, decision.outcome_note = outcome, note.strip()
    decision.outcome_at = timezone.now()
    decision.save(update_fields=["outcome", "outcome_note", "outcome_at"])
    rescore_after(decision.recommendation.diagnosis.incident)
    reckon(decision.recommendation.diagnosis.incident)
    record(
        actor=actor,
        verb="decision.outcome",
        text=f"{Outcome(outcome).label}{': ' + note.strip() if note.strip() else ''}",
        incident=decision.recommendation.diagnosis.incident,
        data={"decision": decision.pk, "outcome": outcome},
    )
    return decision


def next_step(decision: Decision) -> str:
    """What is left for people after a decision; empty where nothing is."""
    action, host = _decided(decision, decision.recommendation)
    if decision.kind == DecisionKind.REJECT or action != Action.ISOLATE_HOST or not host.strip():
        return ""
    noted = f"{host} is noted as suspect; once it is out of service, note"
    return f"{noted} on its page that it is isolated."


def _check(
    kind: DecisionKind, reason: str, changed_action: Action | None, changed_target: str
) -> None:
    if kind not in DecisionKind.values:
        raise InvalidInput("Accept, reject or change.", field="kind")
    if kind != DecisionKind.ACCEPT and not reason.strip():
        raise InvalidInput("Say why, so that others can follow.", field="reason")
    if kind == DecisionKind.CHANGE and changed_action not in Action.values:
        raise InvalidInput("Say what should be done instead.", field="changed_action")
    isolates = kind == DecisionKind.CHANGE and changed_action == Action.ISOLATE_HOST
    if isolates and changed_target and (wrong := what_is_wrong(changed_target)):
        raise InvalidInput(wrong, field="changed_target")


def _check_seen(recommendation: Recommendation, seen: int | None) -> None:
    standing = recommendation.decisions.filter(standing=True).values_list("pk", flat=True).first()
    if seen is not None and seen != (standing or 0):
        raise StaleVersion(expected=seen, current=standing or 0)


def _check_host(
    recommendation: Recommendation,
    kind: DecisionKind,
    changed_action: Action | None,
    changed_target: str,
) -> None:
    """Refuses to isolate nobody knows what: the command, the guard and the host lack a name."""
    if kind == DecisionKind.ACCEPT and recommendation.lacks_host:
        raise InvalidInput(
            "This answer names no host to isolate: change the recommendation, and say which.",
            field="changed_target",
        )
    isolates = kind == DecisionKind.CHANGE and changed_action == Action.ISOLATE_HOST
    if isolates and not (changed_target.strip() or recommendation.target_host.strip()):
        raise InvalidInput("Say which host to isolate.", field="changed_target")


def _guard(
    actor: Actor,
    recommendation: Recommendation,
    kind: DecisionKind,
    changed_action: Action | None,
    changed_target: str,
    *,
    confirm: bool,
) -> None:
    """Asks again before one host too many is taken out; going on beyond that leaves an event."""
    planned = Decision(
        kind=kind, changed_action=changed_action or "", changed_target=changed_target.strip()
    )
    action, host = _decided(planned, recommendation)
    if kind == DecisionKind.REJECT or action != Action.ISOLATE_HOST or not host.strip():
        return
    incident = recommendation.diagnosis.incident
    radius = guard(incident.cluster, host, confirmed=confirm)
    if radius is not None:
        record(
            actor=actor,
            verb="isolation.beyond_limit",
            text=f"Confirmed beyond the limit of isolations: {radius.words}",
            incident=incident,
            data={"hosts": list(radius.hosts), "hosts_of_cluster": radius.known},
        )


def _record(actor: Actor, decision: Decision, recommendation: Recommendation) -> None:
    incident = recommendation.diagnosis.incident
    action, target = _decided(decision, recommendation)
    commands: Mapping[str, str] = {}
    host: Host | None = None
    noted: Mapping[str, object] = {}
    if decision.kind != DecisionKind.REJECT:
        commands = commands_for(action, host=target, reference=incident.reference)
        if action == Action.ISOLATE_HOST:
            host, noted = _mark_suspect(incident, target)
    record(
        actor=actor,
        verb=_VERBS[DecisionKind(decision.kind)],
        text=_text(decision, recommendation, commands),
        incident=incident,
        host=host,
        data={
            "decision": decision.pk,
            "recommendation": recommendation.pk,
            "action": action,
            "target": target or recommendation.target_label,
            "commands": dict(commands),
            **({"noted": noted} if noted else {}),
        },
    )


_VERBS = {
    DecisionKind.ACCEPT: "recommendation.accepted",
    DecisionKind.REJECT: "recommendation.rejected",
    DecisionKind.CHANGE: "recommendation.changed",
}


def _decided(decision: Decision, recommendation: Recommendation) -> tuple[str, str]:
    """The action and host that a decision comes down to."""
    if decision.kind == DecisionKind.CHANGE:
        return decision.changed_action, decision.changed_target or recommendation.target_host
    return recommendation.action, recommendation.target_host


def _text(decision: Decision, recommendation: Recommendation, commands: Mapping[str, str]) -> str:
    text = f"{decision.get_kind_display()}: {recommendation}"
    if decision.changed_action:
        instead = decision.get_changed_action_display()
        text += f" → {instead} {decision.changed_target}".rstrip()
    if decision.reason:
        text += f" ({decision.reason})"
    if commands:
        text += f". To carry it out: {' or '.join(commands.values())}"
    return text


def _mark_suspect(incident: Incident, name: str) -> tuple[Host, Mapping[str, object]]:
    """Marks a host that is in service as suspect; isolating it is for a person to do.

    A host that only the evidence named is registered in the incident's cluster. With it comes how
    it stood before, which taking the decision back goes by.
    """
    (host,) = topology.hosts_named(incident.cluster, [name]).values()
    joined = not incident.hosts.filter(pk=host.pk).exists()
    noted = {"before": host.state, "joined": joined}
    incident.hosts.add(host)
    if host.state == HostState.IN_SERVICE:
        host.state = HostState.SUSPECT
        host.save(update_fields=["state"])
    return host, noted
