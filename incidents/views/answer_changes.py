"""What changed from one diagnosis to the next: first answers are overturned in real life."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from incidents.models import Diagnosis, Recommendation, Suspect
from incidents.templatetags.ui import score

#: A change of probability that is worth a line, and how many lines of one kind are shown.
_WORTH, _LINES = 0.05, 6


@dataclass(frozen=True, slots=True)
class Change:
    """One difference; `sign` is `+` for what is new, `-` for what is gone, `~` for what moved."""

    sign: str
    text: str


def changes_of(answer: Diagnosis, before: Diagnosis) -> Sequence[Change]:
    """How an answer differs from an earlier one of the same incident, most telling first."""
    found = [
        *_verdict(answer, before),
        *_suspects(answer, before),
        *_advice(answer, before),
        *_rests_on(answer, before),
    ]
    return found or [Change("~", "Nothing: the same answer from the same evidence.")]


def _verdict(answer: Diagnosis, before: Diagnosis) -> Iterable[Change]:
    if answer.verdict_class != before.verdict_class:
        was, now = before.get_verdict_class_display(), answer.get_verdict_class_display()
        yield Change("~", f"Cause: {was.lower()} → {now.lower()}")
    if answer.summary != before.summary:
        yield Change("-", before.summary)
        yield Change("+", answer.summary)
    was_sure, sure = before.confidence or 0.0, answer.confidence or 0.0
    if abs(sure - was_sure) >= _WORTH:
        yield Change("~", f"Confidence: {score(was_sure)} → {score(sure)}")


def _suspects(answer: Diagnosis, before: Diagnosis) -> Iterable[Change]:
    now, was = _by_name(answer), _by_name(before)
    new = [one for name, one in now.items() if name not in was]
    gone = [one for name, one in was.items() if name not in now]
    yield from _some("+", [f"Suspect: {_told(one)}" for one in new])
    yield from _some("-", [f"No longer a suspect: {_told(one)}" for one in gone])
    moved = []
    for name, one in now.items():
        other = was.get(name)
        if other is None:
            continue
        if one.role != other.role:
            roles = f"{other.get_role_display()} → {one.get_role_display()}".lower()
            moved.append(f"{one.target_label}: {roles}, {score(other.score)} → {score(one.score)}")
        elif abs(one.score - other.score) >= _WORTH:
            moved.append(f"{one.target_label}: {score(other.score)} → {score(one.score)}")
    yield from _some("~", moved)


def _by_name(run: Diagnosis) -> Mapping[tuple[str, str], Suspect]:
    """Suspects that are not victims, by what they are and their fault."""
    blamed = [one for one in run.suspects.all() if one.role != "victim"]
    return {(one.target_label, one.fault): one for one in blamed}


def _told(one: Suspect) -> str:
    fault = f", {one.fault}" if one.fault else ""
    return f"{one.target_label}{fault} ({score(one.score)})"


def _advice(answer: Diagnosis, before: Diagnosis) -> Iterable[Change]:
    now, was = _recommended(answer), _recommended(before)
    yield from _some("+", [f"Recommended: {one}" for one in now if one not in was])
    yield from _some("-", [f"No longer recommended: {one}" for one in was if one not in now])


def _recommended(run: Diagnosis) -> Sequence[str]:
    items: Iterable[Recommendation] = run.recommendations.all()
    return [str(one) for one in items if one.action != "none"]


def _rests_on(answer: Diagnosis, before: Diagnosis) -> Iterable[Change]:
    now = {one.pk: one.name for one in answer.evidence.all()}
    was = {one.pk: one.name for one in before.evidence.all()}
    yield from _files("+", "More evidence", [now[pk] for pk in now if pk not in was])
    yield from _files("-", "Without", [was[pk] for pk in was if pk not in now])
    if answer.taxonomy_version != before.taxonomy_version:
        yield Change("~", "Other rules: the fault taxonomy was changed in between")
    if answer.engine_version != before.engine_version:
        yield Change("~", f"Engine {before.engine_version} → {answer.engine_version}")


def _files(sign: str, what: str, names: Sequence[str]) -> Iterable[Change]:
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        yield Change(sign, f"{what}: {', '.join(sorted(names)[:3])}{more}")


def _some(sign: str, lines: Sequence[str]) -> Iterable[Change]:
    yield from (Change(sign, line) for line in lines[:_LINES])
    if len(lines) > _LINES:
        yield Change(sign, f"and {len(lines) - _LINES} more like it")
