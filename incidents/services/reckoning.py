"""Counting what an incident's diagnoses and decisions come down to, whenever they change."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from incidents.choices import (
    Action,
    DiagnosisState,
    Outcome,
    RuleKind,
    SuspectRole,
    VerdictClass,
)
from incidents.figures.judging import Judged, true_place
from incidents.hostnames import normalise_host
from incidents.models import (
    Decision,
    Diagnosis,
    Incident,
    JudgedRule,
    Reckoning,
    Recommendation,
    Suspect,
)

#: Classes that name a cause without naming a part.
_CAUSE_WITHOUT_A_PART = (VerdictClass.USER, VerdictClass.CONFIG, VerdictClass.STORAGE)
#: Actions that say nothing about who is to blame.
_BLAMES_NOBODY = (Action.RESTART_JOB, Action.WATCH, Action.RUN_OFFLINE, Action.NONE)
Rule = tuple[RuleKind, str]


@dataclass(frozen=True, slots=True)
class _Told:
    """A decision that stands, what became of it, and the suspect that it is about."""

    judged: Judged
    rules: Sequence[Rule]


@transaction.atomic
def reckon(incident: Incident) -> Reckoning:
    """Brings the incident's figures up to date, from all that is stored of it.

    Part of the change that calls it, which leaves the event.
    """
    Incident.objects.select_for_update(of=("self",)).get(pk=incident.pk)
    told = list(_told(incident))
    judged = [one.judged for one in told]
    decisions = Decision.objects.filter(
        recommendation__diagnosis__incident=incident, undone_at=None
    )
    first = decisions.order_by("decided_at").values_list("decided_at", flat=True).first()
    reckoning, _ = Reckoning.objects.update_or_create(
        incident=incident,
        defaults={
            "fault": _first_fault(incident),
            "located_at": _located_at(incident),
            "decided_at": first,
            "right": any(one.right for one in judged) if judged else None,
            "confirmed": any(one.confirmed for one in judged),
            "place": true_place(judged),
        },
    )
    JudgedRule.objects.filter(incident=incident).delete()
    JudgedRule.objects.bulk_create(_rules(incident, told))
    return reckoning


def _rules(incident: Incident, told: Iterable[_Told]) -> Iterator[JudgedRule]:
    by_rule: dict[Rule, list[Judged]] = defaultdict(list)
    for one in told:
        for rule in one.rules:
            by_rule[rule].append(one.judged)
    for (kind, code), judged in by_rule.items():
        yield JudgedRule(
            incident=incident,
            kind=kind,
            code=code[:100],
            right=all(one.right for one in judged),
            confirmed=any(one.confirmed for one in judged),
        )


def _first_fault(incident: Incident) -> str:
    runs = incident.diagnoses.filter(state=DiagnosisState.DONE).order_by("-number")
    first = Suspect.objects.filter(diagnosis=runs.first(), position=1).first()
    return first.fault if first else ""


def _located_at(incident: Incident) -> datetime | None:
    """When the first answer came that named a cause."""
    runs = incident.diagnoses.filter(state=DiagnosisState.DONE).order_by("number")
    for run in runs:
        if run.verdict_class in _CAUSE_WITHOUT_A_PART or (
            run.verdict_class in {VerdictClass.CRITICAL, VerdictClass.DEGRADATION}
            and run.suspects.filter(role=SuspectRole.CULPRIT).exists()
        ):
            return run.finished_at
    return None


def _told(incident: Incident) -> Iterator[_Told]:
    """The decisions that stand, each once: one that a later run carries on is the same one."""
    standing = (
        Decision.objects.filter(standing=True, recommendation__diagnosis__incident=incident)
        .exclude(recommendation__action__in=_BLAMES_NOBODY)
        .select_related("recommendation__diagnosis")
        .order_by("id")
    )
    by_origin: dict[int, list[Decision]] = defaultdict(list)
    for one in standing:
        by_origin[one.carried_from_id or one.pk].append(one)
    for same in by_origin.values():
        known = [one.outcome for one in same if one.outcome != Outcome.PENDING]
        outcome = known[-1] if known else Outcome.PENDING
        suspects = _suspects_of(same[0].recommendation.diagnosis)
        suspect = suspect_of(same[0].recommendation, suspects)
        if suspect is not None:
            yield _Told(_judged(same[0], outcome, suspect, suspects), list(rules_of(suspect)))


def _suspects_of(diagnosis: Diagnosis) -> Sequence[Suspect]:
    found = diagnosis.suspects.exclude(role=SuspectRole.VICTIM).order_by("position")
    return list(found.prefetch_related("findings"))


def suspect_of(recommendation: Recommendation, suspects: Sequence[Suspect]) -> Suspect | None:
    """Whom a recommendation holds for the cause; None where it blames nobody.

    Of several suspects on its host the first; an action on no host is about the first of its kind.
    """
    if recommendation.action in _BLAMES_NOBODY:
        return None
    if recommendation.target_host:
        host = normalise_host(recommendation.target_host)
        return next((s for s in suspects if normalise_host(s.target_host) == host), None)
    kind = recommendation.target_kind
    alike = [s for s in suspects if s.target_kind == kind]
    return next(iter(alike or suspects), None)


def rules_of(suspect: Suspect) -> Iterator[Rule]:
    """What made it a suspect: its fault's signatures, and the detectors that speak for it."""
    if suspect.fault:
        yield RuleKind.FAULT, suspect.fault
    spoke = {one.detector for one in suspect.findings.all() if not one.speaks_against}
    for detector in sorted(spoke):
        yield RuleKind.DETECTOR, detector


def _judged(
    decision: Decision, outcome: str, suspect: Suspect, suspects: Sequence[Suspect]
) -> Judged:
    elsewhere: int | None = None
    instead = normalise_host(decision.changed_target)
    if instead and instead != normalise_host(suspect.target_host):
        named = (s.position for s in suspects if normalise_host(s.target_host) == instead)
        elsewhere = next(named, 0)
    return Judged(decision.kind, outcome, suspect.position, elsewhere)
