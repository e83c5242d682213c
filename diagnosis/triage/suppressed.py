"""What people silenced: left out before judging, and told with the reason."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from diagnosis.core.diagnosis import Diagnosis, Recommendation
from diagnosis.core.words import Action, VerdictClass
from diagnosis.taxonomy.suppression import Suppression
from diagnosis.triage.clues import Clue
from diagnosis.triage.outcome import Outcome

#: Hosts that one line names.
_NAMES = 8
_NOTHING_WRONG = {VerdictClass.UNKNOWN, VerdictClass.HEALTHY}
_ON_A_HOST = {Action.ISOLATE_HOST, Action.RESET_GPU, Action.CHECK_LINK}


@dataclass(frozen=True, slots=True)
class Silenced:
    """A clue that is left out, and why."""

    clue: Clue
    reason: str


def without_suppressed(
    clues: Iterable[Clue], suppression: Suppression
) -> tuple[list[Clue], tuple[Silenced, ...]]:
    """The clues to judge, and those that are silenced."""
    if not suppression:
        return list(clues), ()
    left: list[Clue] = []
    silenced: list[Silenced] = []
    for clue in clues:
        reason = suppression.reason(
            signature=clue.code,
            host=clue.place.host,
            on_line=clue.ignored_by,
            first=_utc(clue, last=False),
            last=_utc(clue, last=True),
        )
        if reason is None:
            left.append(clue)
        else:
            silenced.append(Silenced(clue, reason))
    return left, tuple(silenced)


def _utc(clue: Clue, *, last: bool) -> float | None:
    """Epoch seconds of the first or last line, where its clock tells them."""
    moment = (clue.last or clue.moment) if last else clue.moment
    return moment.time if moment is not None and moment.scale == "utc" else None


def told(silenced: Sequence[Silenced]) -> tuple[str, ...]:
    """For the trace: how many lines of each signature, where, and why they don't count."""
    return tuple(f"suppressed: {line}" for line in listed(silenced))


def listed(silenced: Sequence[Silenced]) -> tuple[str, ...]:
    """The same for the coverage, which says by itself what it lists."""
    groups: dict[tuple[str, str], list[Clue]] = {}
    for one in silenced:
        groups.setdefault((one.reason, one.clue.code), []).append(one.clue)
    return tuple(_line(code, reason, clues) for (reason, code), clues in sorted(groups.items()))


def mentioned(outcome: Outcome, silenced: Sequence[Silenced]) -> Outcome:
    """The outcome; one that finds nothing wrong says that something was left out."""
    if not silenced or outcome.cls not in _NOTHING_WRONG:
        return outcome
    lines = sum(one.clue.count for one in silenced)
    first = silenced[0]
    more = len({one.clue.code for one in silenced}) - 1
    codes = first.clue.code + (
        f" and {more} other signature{'s' if more > 1 else ''}" if more else ""
    )
    left_out = f"Left out: {lines} line{'s' if lines > 1 else ''} of {codes}, {first.reason}."
    return replace(outcome, summary=f"{outcome.summary} {left_out}")


def _line(code: str, reason: str, clues: Sequence[Clue]) -> str:
    lines = sum(clue.count for clue in clues)
    hosts = sorted({clue.place.host for clue in clues if clue.place.host})
    shown = ", ".join(hosts[:_NAMES])
    more = f" and {len(hosts) - _NAMES} more" if len(hosts) > _NAMES else ""
    where = f" on {shown}{more}" if hosts else ""
    return f"{lines} line{'s' if lines > 1 else ''} of {code}{where}: {reason}"


def without_maintenance(answer: Diagnosis, suppression: Suppression) -> Diagnosis:
    """The diagnosis, with advice about a host under maintenance held back.

    It becomes a recommendation to watch that says what is held back and why: suspects stay.
    """
    held = {
        item: reason
        for item in answer.recommendations
        if item.action in _ON_A_HOST
        and (reason := suppression.maintenance_of(item.target.host)) is not None
    }
    if not held:
        return answer
    lines = tuple(f"{item.action} of {item.target.host}: {reason}" for item, reason in held.items())
    return replace(
        answer,
        recommendations=tuple(
            _watching(item, held[item]) if item in held else item for item in answer.recommendations
        ),
        trace=(*answer.trace, *(f"suppressed: {line}" for line in lines)),
        verdict=replace(
            answer.verdict,
            summary=f"{answer.verdict.summary} {_in_the_summary(held)}",
            coverage=_with_lines(answer, lines),
        ),
    )


def _watching(item: Recommendation, reason: str) -> Recommendation:
    said = f"{item.action} is held back: {item.target.host} is {reason}. {item.reason}"
    return replace(item, action=Action.WATCH, reason=said)


def _in_the_summary(held: dict[Recommendation, str]) -> str:
    hosts = ", ".join(sorted({str(item.target.host) for item in held}))
    return f"(Held back: {hosts} is {next(iter(held.values()))}.)"


def _with_lines(answer: Diagnosis, lines: Sequence[str]) -> dict[str, object]:
    before = answer.verdict.coverage.get("suppressed")
    known = list(before) if isinstance(before, list) else []
    return {**answer.verdict.coverage, "suppressed": [*known, *lines]}
