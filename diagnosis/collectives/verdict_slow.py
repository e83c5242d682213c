"""The verdict on ranks that are slow in their collectives: a degradation, on their hosts."""

from collections.abc import Mapping, Sequence

from diagnosis.collectives.report import Case, conclusion, on_hosts, ranks_text
from diagnosis.collectives.slow_ranks import SlowPart, SlowRank
from diagnosis.collectives.verdict_quiet import STRAGGLER
from diagnosis.core.counters import CounterRow
from diagnosis.core.diagnosis import Conclusion, Finding, Recommendation, Suspect
from diagnosis.core.words import Action, IncidentKind, Role, VerdictClass

SLOW_NETWORK = "network-slow"
_SCORE, _PAIR_SCORE = 0.85, 0.7
_ADVICE: Mapping[SlowPart, str] = {
    SlowPart.COMPUTING: "Test this host's GPUs, CPU and storage; replace it at the next restart.",
    SlowPart.COMMUNICATING: "Check both ends of this rank's link, its NIC, cable and switch port.",
}


def slow_verdict(
    case: Case,
    slow: Sequence[SlowRank],
    latest: Mapping[tuple[int, int], CounterRow],
    trace: Sequence[str],
) -> Conclusion:
    """At least one slow rank; `latest` are the rows that the findings lead back to."""
    worst = slow[0]
    alike = [one.rank for one in slow if one.part is worst.part]
    what = (
        "arrives last at collectives: its computing is slow"
        if worst.part is SlowPart.COMPUTING
        else "takes longer for a byte than its peers: its communication is slow"
    )
    summary = f"{ranks_text([worst.rank]).capitalize()}{on_hosts(case, [worst.rank])} {what}."
    score = _SCORE if len(alike) == 1 else _PAIR_SCORE / (len(alike) / 2)
    role = Role.CULPRIT if len(alike) == 1 else Role.POSSIBLE
    return conclusion(
        case,
        kind=IncidentKind.DEGRADATION,
        cls=VerdictClass.DEGRADATION,
        summary=summary,
        confidence=score,
        trace=(*trace, *map(_text, slow)),
        suspects=[
            Suspect(
                target=case.target(one.rank),
                score=score if one.part is worst.part else score / 2,
                role=role if one.part is worst.part else Role.POSSIBLE,
                fault=STRAGGLER if one.part is SlowPart.COMPUTING else SLOW_NETWORK,
                findings=(_finding(case, one, latest[one.communicator, one.rank]),),
            )
            for one in slow[: case.settings.victims_shown]
        ],
        recommendations=[
            Recommendation(
                Action.RUN_OFFLINE if one.part is SlowPart.COMPUTING else Action.CHECK_LINK,
                case.target(one.rank),
                _ADVICE[one.part],
            )
            for one in slow[: case.settings.victims_shown]
        ],
        decisive=len(alike) == 1,
    )


def _text(one: SlowRank) -> str:
    what = "is inside" if one.part is SlowPart.COMPUTING else "takes for a byte"
    return (
        f"rank {one.rank} {what} {one.ratio:.2f} times as long as the mean of its peers, in "
        f"{one.times} of the last {one.of} collectives"
    )


def _finding(case: Case, one: SlowRank, row: CounterRow) -> Finding:
    return Finding(
        detector="collectives.slow-ranks",
        target=case.target(one.rank),
        text=_text(one),
        evidence=row.evidence,
        locator={"line": row.line, "operation": one.last.operation, "number": one.last.number},
        time=row.time,
    )
