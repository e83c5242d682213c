"""Decisions that hold on: a later run that recommends the same again asks nobody twice."""

from collections.abc import Hashable, Sequence

from incidents.choices import Outcome
from incidents.hostnames import normalise_host
from incidents.models import Decision, Diagnosis, Recommendation


def carry_into(diagnosis: Diagnosis) -> Sequence[Decision]:
    """Repeats the decisions of earlier runs on what this run recommends again.

    Same action on the same target. A decision whose outcome is known is done with: the same
    recommendation after it is a new question. Part of storing a diagnosis, whose event names them.
    """
    earlier = Decision.objects.filter(
        standing=True,
        recommendation__diagnosis__incident=diagnosis.incident_id,
        recommendation__diagnosis__number__lt=diagnosis.number,
    )
    newest = {
        _question(one.recommendation): one
        for one in earlier.select_related("recommendation").order_by("id")
    }
    found = [(newest.get(_question(one)), one) for one in diagnosis.recommendations.all()]
    return [
        _repeat(decision, again)
        for decision, again in found
        if decision is not None and decision.outcome == Outcome.PENDING
    ]


def carry_on(decision: Decision) -> None:
    """Repeats a decision on what later runs recommend again, unless someone decided there."""
    about = decision.recommendation
    later = Recommendation.objects.filter(
        diagnosis__incident=about.diagnosis.incident_id,
        diagnosis__number__gt=about.diagnosis.number,
        action=about.action,
    )
    for one in later:
        standing = one.decisions.filter(standing=True).first()
        if _question(one) == _question(about) and (standing is None or standing.carried_from_id):
            one.decisions.filter(standing=True).update(standing=False)
            _repeat(decision, one)


def _question(one: Recommendation) -> Hashable:
    """What makes two recommendations the same: action and target, hosts however they are spelt."""
    return (
        one.action,
        one.target_kind,
        normalise_host(one.target_host) or one.target_name,
        one.target_gpu,
        one.target_nic,
        one.target_rank,
        one.target_peer,
    )


def _repeat(decision: Decision, again: Recommendation) -> Decision:
    return Decision.objects.create(
        recommendation=again,
        kind=decision.kind,
        changed_action=decision.changed_action,
        changed_target=decision.changed_target,
        reason=decision.reason,
        actor=decision.actor,
        user_id=decision.user_id,
        decided_at=decision.decided_at,
        carried_from=decision.carried_from or decision,
    )
