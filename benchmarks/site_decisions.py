"""What people decided on the incidents of a large site, and how it is counted, in bulk."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from benchmarks.site_draws import CULPRIT, Draws, Told
from benchmarks.site_jobs import Site
from incidents.choices import Action, DecisionKind, Outcome, RuleKind
from incidents.figures.judging import Judged
from incidents.models import Decision, JudgedRule, Reckoning, Recommendation


def decisions(
    told: Sequence[Told], advised: Sequence[Recommendation], drawn: Draws, site: Site
) -> Iterator[Decision]:
    """Two of three incidents that are over were decided on."""
    by_run: dict[int, Recommendation] = {
        one.diagnosis.incident_id: one for one in advised if one.position == 1
    }
    for one in told:
        incident = one.incident
        if incident.acknowledged_at is None or one.place % 3 == 0:
            continue
        kind, outcome = drawn.kind_of_decision[one.place], drawn.outcome[one.place]
        person = site.people[one.place % len(site.people)]
        rejected = kind != DecisionKind.ACCEPT
        change = kind == DecisionKind.CHANGE
        yield Decision(
            recommendation=by_run[incident.pk],
            kind=kind,
            reason="The part is fine: the neighbour was bad." if rejected else "",
            changed_action=Action.ISOLATE_HOST if change else "",
            changed_target=one.others[0].name if change and one.others else "",
            actor=person.username,
            user=person,
            decided_at=incident.opened_at + 2 * (incident.acknowledged_at - incident.opened_at),
            outcome=outcome,
            outcome_at=incident.resolved_at if outcome != Outcome.PENDING else None,
        )


def reckonings(
    told: Sequence[Told], decisions: Sequence[Decision], drawn: Draws
) -> Iterator[Reckoning]:
    """As `incidents.services.reckoning` has them, in bulk."""
    decided = {one.recommendation.diagnosis.incident_id: one for one in decisions}
    for one in told:
        decision = decided.get(one.incident.pk)
        right = None if decision is None else _right(decision)
        yield Reckoning(
            incident=one.incident,
            fault=drawn.fault[one.place],
            located_at=one.incident.opened_at + timedelta(seconds=5)
            if drawn.score[one.place] > CULPRIT
            else None,
            decided_at=decision.decided_at if decision else None,
            right=right,
            confirmed=decision is not None and decision.outcome != Outcome.PENDING,
            place=None if right is None else int(right),
        )


def judged(
    told: Sequence[Told], decisions: Sequence[Decision], drawn: Draws
) -> Iterator[JudgedRule]:
    place_of = {one.incident.pk: one.place for one in told}
    for one in decisions:
        incident = one.recommendation.diagnosis.incident_id
        for kind, code in (
            (RuleKind.FAULT, drawn.fault[place_of[incident]]),
            (RuleKind.DETECTOR, "signature"),
            (RuleKind.DETECTOR, "silence"),
        ):
            yield JudgedRule(
                incident_id=incident,
                kind=kind,
                code=code,
                right=_right(one),
                confirmed=one.outcome != Outcome.PENDING,
            )


def _right(decision: Decision) -> bool:
    judged = Judged(decision.kind, decision.outcome, 1, 0 if decision.changed_target else None)
    return judged.right
