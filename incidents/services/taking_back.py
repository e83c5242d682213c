"""Taking a decision back, as long as nothing came of it."""

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from incidents.choices import OPEN_STATUSES, ExecutionState, HostState, Outcome
from incidents.exceptions import TransitionRefused
from incidents.hostnames import normalise_host
from incidents.models import Decision, Event, Execution, Host, Incident, Recommendation, Suspect
from incidents.roles import Actor, Capability
from incidents.services.blast_radius import ISOLATES
from incidents.services.carrying import carry_on
from incidents.services.events import record
from incidents.services.hosts import CHANGED
from incidents.services.offenders import rescore_after
from incidents.services.reckoning import reckon


@transaction.atomic
def take_back(*, actor: Actor, decision: Decision) -> Decision:
    """The recommendation as it stood before: undecided, or with the decision before this one.

    A decision that a later run repeated is taken back there as well. The host that it noted as
    suspect is in service again, unless someone or something else had a say in it since. Raises
    `TransitionRefused` where another decision stands, an executor acted, or the outcome is known.
    """
    actor.require(Capability.RESPOND)
    origin = decision.carried_from_id or decision.pk
    asked = Recommendation.objects.select_for_update(of=("self",)).get(decisions=origin)
    incident = Incident.objects.select_for_update(of=("self",)).get(
        diagnoses__recommendations=asked
    )
    current = Decision.objects.get(pk=origin)
    same = Decision.objects.filter(Q(pk=origin) | Q(carried_from=origin))
    _check(current)
    _drop_plans(same)
    same.filter(standing=True).update(
        standing=False, undone_at=timezone.now(), undone_by=actor.label
    )
    earlier = asked.decisions.filter(undone_at=None, pk__lt=origin).order_by("-id").first()
    if earlier is not None:
        earlier.standing = True
        earlier.save(update_fields=["standing"])
        carry_on(earlier)
    host = _release_host(incident, current)
    rescore_after(incident)
    reckon(incident)
    told = f"{current.get_kind_display().lower()} by {current.actor}: {asked}"
    record(
        actor=actor,
        verb="recommendation.taken_back",
        text=f"Taken back: {told}" + (f"; {host} is in service again" if host else ""),
        incident=incident,
        host=host,
        data={
            "decision": origin,
            "recommendation": asked.pk,
            "action": current.changed_action or asked.action,
            "target": current.changed_target or asked.target_label,
            "commands": {},
        },
    )
    return Decision.objects.get(pk=decision.pk)


def _check(current: Decision) -> None:
    if current.undone_at is not None:
        raise TransitionRefused(f"{current.undone_by} has taken this back already.")
    if not current.standing:
        raise TransitionRefused("Another decision stands by now; nothing was taken back.")
    if current.outcome != Outcome.PENDING:
        raise TransitionRefused(
            "What came of it is noted already: decide anew in place of taking it back."
        )


def _drop_plans(decisions: QuerySet[Decision]) -> None:
    """Plans of these decisions go with them; what an executor began with is not undone by that."""
    plans = Execution.objects.filter(decision__in=decisions)
    if plans.exclude(state=ExecutionState.PLANNED).exists():
        raise TransitionRefused(
            "An executor has acted on it already: undo that at the scheduler, then decide anew."
        )
    plans.delete()


def _release_host(incident: Incident, decision: Decision) -> Host | None:
    """The host that the decision noted as suspect, in service again; None where it stays."""
    about = Event.objects.filter(incident=incident, data__decision=decision.pk, host__isnull=False)
    noting = about.filter(data__has_key="noted").select_related("host").order_by("-id").first()
    if noting is None or noting.host is None:
        return None
    host = Host.objects.select_for_update().get(pk=noting.host.pk)
    noted = noting.data["noted"]
    accused = Suspect.objects.filter(diagnosis__incident=incident, target_host__iexact=host.name)
    if noted["joined"] and not accused.exists():
        incident.hosts.remove(host)
    since = Event.objects.filter(host=host, verb=CHANGED, id__gt=noting.pk)
    untouched = noted["before"] == HostState.IN_SERVICE and host.state == HostState.SUSPECT
    if not untouched or since.exists() or _is_to_be_isolated(host):
        return None
    host.state = HostState.IN_SERVICE
    host.save(update_fields=["state"])
    return host


def _is_to_be_isolated(host: Host) -> bool:
    """Whether a decision that stands on an open incident takes the host out."""
    standing = Decision.objects.filter(
        ISOLATES,
        standing=True,
        recommendation__diagnosis__incident__cluster=host.cluster_id,
        recommendation__diagnosis__incident__status__in=OPEN_STATUSES,
    ).values_list("changed_target", "recommendation__target_host")
    return host.normalised_name in {normalise_host(changed or name) for changed, name in standing}
