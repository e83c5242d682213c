"""Fusion: one diagnosis from what the branches of the engine conclude, each from its own evidence.

Which branch leads (docs/decisions/0002-fusion.md): a critical part that the logs name, when it sits
where the collectives stopped or they only saw symptoms; then a call mismatch or order deadlock,
which outranks a death; then whatever the logs settle; then the rank that did not arrive; then a
likely cause, which a rank without a dump does not outweigh; then the rest by confidence. The other
branch's suspects stay, below, and agreement raises the score.
"""

from collections.abc import Sequence
from dataclasses import replace

from diagnosis.core.diagnosis import (
    Conclusion,
    Diagnosis,
    Finding,
    Recommendation,
    Skipped,
    Suspect,
    Verdict,
)
from diagnosis.core.target import Target, normalise_host
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass

#: A suspect of the branch that does not lead keeps at most this share of what the leader leaves.
FOLLOWER_SHARE = 0.5

_SYMPTOM_ONLY = {VerdictClass.HEALTHY, VerdictClass.UNKNOWN, VerdictClass.DISTRIBUTED}


def fuse(
    conclusions: Sequence[Conclusion], *, skipped: tuple[Skipped, ...], taxonomy_version: str
) -> Diagnosis:
    """The diagnosis from at most a few conclusions; an honest `unknown` where there is none."""
    if not conclusions:
        return _nothing_judged(skipped, taxonomy_version)
    leader, *followers = _by_precedence(conclusions)
    suspects = list(leader.suspects)
    trace = [line for conclusion in conclusions for line in conclusion.trace]
    verdict = leader.verdict
    for follower in followers:
        suspects, verdict = _joined(suspects, verdict, follower)
        trace.append(_fusion_line(leader, follower, suspects))
    return Diagnosis(
        verdict=replace(verdict, coverage=_coverage(conclusions)),
        suspects=tuple(_ranked(suspects)),
        recommendations=_recommendations(leader, followers),
        trace=tuple(trace),
        skipped=skipped,
        taxonomy_version=taxonomy_version,
    )


def _nothing_judged(skipped: tuple[Skipped, ...], taxonomy_version: str) -> Diagnosis:
    reason = f"none of the {len(skipped)} files could be read" if skipped else "no evidence given"
    return Diagnosis(
        verdict=Verdict(
            kind=IncidentKind.NONE,
            cls=VerdictClass.UNKNOWN,
            summary=f"Nothing could be judged: {reason}.",
            confidence=0.0,
        ),
        suspects=(),
        recommendations=(
            Recommendation(
                Action.NONE,
                Target(TargetKind.NONE),
                "Hand in training or kernel logs, or Flight Recorder dumps of the job's ranks.",
            ),
        ),
        trace=(f"Nothing could be judged: {reason}.",),
        skipped=skipped,
        taxonomy_version=taxonomy_version,
        judged=False,
    )


def _by_precedence(conclusions: Sequence[Conclusion]) -> list[Conclusion]:
    return sorted(conclusions, key=lambda item: _precedence(item, conclusions), reverse=True)


def _precedence(item: Conclusion, everyone: Sequence[Conclusion]) -> tuple[int, float, str]:
    others = [other for other in everyone if other is not item]
    return (_rung(item, others), item.verdict.confidence, item.branch)


def _rung(item: Conclusion, others: Sequence[Conclusion]) -> int:
    cls = item.verdict.cls
    if cls is VerdictClass.CRITICAL and item.decisive:
        symptoms = all(other.verdict.cls in _SYMPTOM_ONLY for other in others)
        return 7 if symptoms or any(_agree(item, other) for other in others) else 5
    if item.branch == "collectives" and cls is VerdictClass.USER and item.decisive:
        return 6
    if item.decisive and cls not in _SYMPTOM_ONLY:
        return 5
    if any(suspect.role is Role.CULPRIT for suspect in item.suspects):
        return 4
    return _rung_of_likely(item, others)


def _rung_of_likely(item: Conclusion, others: Sequence[Conclusion]) -> int:
    """Below everything that is settled: causes before symptoms before what is unknown."""
    cls = item.verdict.cls
    if cls is VerdictClass.HEALTHY:
        return 2 if _only_hints(others) else 0
    if cls is VerdictClass.UNKNOWN or _only_hints([item]):
        return 1
    return 2 if cls in _SYMPTOM_ONLY else 3


def _only_hints(conclusions: Sequence[Conclusion]) -> bool:
    """Wear that nobody felt (a corrected error, a warm part) does not outweigh ranks that move."""
    return bool(conclusions) and all(
        item.verdict.cls is VerdictClass.DEGRADATION and not item.decisive for item in conclusions
    )


def _agree(one: Conclusion, other: Conclusion) -> bool:
    return any(
        same_place(mine.target, theirs.target)
        for mine in one.suspects
        for theirs in other.suspects
        if mine.role is not Role.VICTIM and theirs.role is not Role.VICTIM
    )


def same_place(one: Target, other: Target) -> bool:
    """Do both name the same rank, or, where one of them names no rank, the same host?"""
    if one.rank is not None and other.rank is not None:
        return one.rank == other.rank
    if one.host and other.host:
        return normalise_host(one.host) == normalise_host(other.host)
    return False


def _joined(
    suspects: list[Suspect], verdict: Verdict, follower: Conclusion
) -> tuple[list[Suspect], Verdict]:
    """Fold the follower's suspects in: agreement adds up, the rest shares what is left."""
    left = max(0.0, 1.0 - max((suspect.score for suspect in suspects), default=0.0))
    joined = list(suspects)
    for theirs in follower.suspects:
        index = _index_of_place(joined, theirs.target)
        if index is None:
            joined.append(_demoted(theirs, left))
        elif theirs.role is not Role.VICTIM and joined[index].role is not Role.VICTIM:
            joined[index] = _combined(joined[index], theirs)
            if index == 0:
                verdict = replace(verdict, confidence=joined[0].score)
    return joined, verdict


def _index_of_place(suspects: Sequence[Suspect], target: Target) -> int | None:
    for index, suspect in enumerate(suspects):
        if suspect.target.key == target.key or same_place(suspect.target, target):
            return index
    return None


def _combined(ours: Suspect, theirs: Suspect) -> Suspect:
    """Two independent branches name one place: the chance that both err is the product."""
    score = 1.0 - (1.0 - ours.score) * (1.0 - theirs.score)
    known = ours.target
    target = replace(
        known,
        host=known.host or theirs.target.host,
        rank=theirs.target.rank if known.rank is None else known.rank,
        gpu=theirs.target.gpu if known.gpu is None else known.gpu,
    )
    findings: tuple[Finding, ...] = (*ours.findings, *theirs.findings)
    return replace(ours, target=target, score=min(score, 0.99), findings=findings)


def _demoted(suspect: Suspect, left: float) -> Suspect:
    role = Role.VICTIM if suspect.role is Role.VICTIM else Role.POSSIBLE
    return replace(suspect, role=role, score=min(suspect.score, left * FOLLOWER_SHARE))


def _ranked(suspects: Sequence[Suspect]) -> list[Suspect]:
    """Victims last; within a role the order of precedence and score stays."""
    return sorted(suspects, key=lambda suspect: (suspect.role is Role.VICTIM, -suspect.score))


def _recommendations(
    leader: Conclusion, followers: Sequence[Conclusion]
) -> tuple[Recommendation, ...]:
    """The leader's; a follower's only where the leader knows nothing better than to watch."""
    chosen = list(leader.recommendations)
    idle = {Action.NONE, Action.WATCH}
    if all(item.action in idle for item in chosen):
        for follower in followers:
            chosen += [item for item in follower.recommendations if item not in chosen]
        chosen = [item for item in chosen if item.action is not Action.NONE] or chosen[:1]
    return tuple(chosen)


def _coverage(conclusions: Sequence[Conclusion]) -> dict[str, object]:
    merged: dict[str, object] = {}
    for conclusion in conclusions:
        for name, value in conclusion.verdict.coverage.items():
            merged.setdefault(name, value)
    return merged


def _fusion_line(leader: Conclusion, follower: Conclusion, suspects: Sequence[Suspect]) -> str:
    if _agree(leader, follower) and suspects:
        place = suspects[0].target
        return (
            f"{leader.branch} and {follower.branch} agree on "
            f"{place.host or place.name or f'rank {place.rank}'}"
        )
    return (
        f"{leader.branch} leads ({leader.verdict.cls.value}); "
        f"{follower.branch} by itself: {follower.verdict.summary}"
    )
