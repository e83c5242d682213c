"""Verdicts where nobody is missing: stragglers, running jobs, stalls inside, and healthy ends."""

from collections.abc import Sequence

from diagnosis.collectives.lateness import Straggler
from diagnosis.collectives.report import (
    JOB,
    Case,
    conclusion,
    count,
    on_hosts,
    ranks_text,
    victims,
    waits_in,
)
from diagnosis.collectives.wait_graph import WaitGraph
from diagnosis.core.diagnosis import Conclusion, Finding, Recommendation, Suspect
from diagnosis.core.words import Action, IncidentKind, Role, VerdictClass

STRAGGLER = "collective-straggler"
MISSING = "collective-rank-missing"
NO_DUMP = "collective-no-dump"
#: More late ranks than that are a replica that waits for one of its own: each is only possible.
_PAIR = 2


def straggler_verdict(case: Case, late: Sequence[Straggler], trace: Sequence[str]) -> Conclusion:
    """Ranks that are late at every step make everyone wait: a degradation, on their hosts."""
    worst = late[0]
    ranks = [item.rank for item in late]
    summary = (
        f"{ranks_text(ranks).capitalize()}{on_hosts(case, ranks)} "
        f"{'arrives' if len(late) == 1 else 'arrive'} late again and again, by about "
        f"{worst.late_ms:.0f} ms, and takes {worst.share:.0%} of the recorded time from everyone."
    )
    score = 0.9 if len(late) == 1 else 0.85 if len(late) == _PAIR else 0.9 / len(late)
    role = Role.CULPRIT if len(late) <= _PAIR else Role.POSSIBLE
    return conclusion(
        case,
        kind=IncidentKind.DEGRADATION,
        cls=VerdictClass.DEGRADATION,
        summary=summary,
        confidence=score,
        trace=(*trace, *(f"straggler: {_text(item)}" for item in late)),
        suspects=[
            Suspect(case.target(s.rank), score, role, STRAGGLER, (_finding(case, s),)) for s in late
        ],
        recommendations=[
            Recommendation(
                Action.RUN_OFFLINE,
                case.target(item.rank),
                "Test this host's GPUs, CPU and storage; replace it at the next restart.",
            )
            for item in late[: case.settings.victims_shown]
        ],
        decisive=True,
        lost_share=worst.share,
    )


def _text(item: Straggler) -> str:
    if item.by_duration:
        return (
            f"rank {item.rank} spends the least time inside collectives "
            f"({item.late_ms:.0f} ms less than its peers each time): it arrives last"
        )
    return (
        f"rank {item.rank} took {item.late_ms:.0f} ms longer than its peers before "
        f"{item.times} of {item.of} collectives"
    )


def _finding(case: Case, item: Straggler) -> Finding:
    return Finding(
        detector="collectives.lateness",
        target=case.target(item.rank),
        text=_text(item),
        evidence=item.source,
        locator={"entry": item.record_id},
    )


def running_verdict(case: Case, graph: WaitGraph, trace: Sequence[str]) -> Conclusion:
    """Many ranks are 'behind' others, or were dumped at different times: a job in motion."""
    few = graph.sinks if len(graph.sinks) <= len(graph.blocked) else ()
    return conclusion(
        case,
        kind=IncidentKind.NONE,
        cls=VerdictClass.UNKNOWN,
        summary=(
            f"No hang is visible: {count(len(graph.sinks), 'rank')} are a step behind "
            f"{len(graph.blocked)} others, as in a running job."
        ),
        confidence=0.6,
        trace=(
            *trace,
            f"{len(graph.sinks)} ranks are awaited by {len(graph.blocked)}: a job in motion",
        ),
        suspects=[
            Suspect(case.target(sink.rank), 0.5 / len(few), Role.POSSIBLE, MISSING)
            for sink in few[: case.settings.victims_shown]
        ],
        recommendations=[
            Recommendation(
                Action.WATCH, JOB, "Take a second set of dumps; only a rank that stays is stuck."
            )
        ],
    )


def left_outside_verdict(case: Case, graph: WaitGraph, trace: Sequence[str]) -> Conclusion:
    """Most ranks stand behind a few that timed out: a cause they share, and no single host."""
    ranks = [sink.rank for sink in graph.sinks]
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.UNKNOWN,
        summary=(
            f"{count(len(ranks), 'rank')} did not arrive where {len(graph.blocked)} timed out: a "
            "cause that they share (data loading, checkpoint, shared storage) and no single host."
        ),
        confidence=0.5,
        trace=(*trace, f"the majority is missing: {ranks_text(ranks)}"),
        suspects=victims(case, graph.blocked),
        recommendations=[
            Recommendation(
                Action.WATCH, JOB, "Look at the stacks of the missing ranks and at shared storage."
            )
        ],
    )


def in_flight_verdict(case: Case, trace: Sequence[str], *, still: bool = False) -> Conclusion:
    """Everyone has arrived and the operation is open: in flight, or stalled inside.

    It is stalled where a watchdog gave it up, or where a second sample showed it `still` open.
    """
    first = case.progress.waiting[min(case.progress.waiting)]
    place = waits_in(case.progress, first)
    failed = any(operation.failed for operation in case.progress.waiting.values())
    known = "in flight, or stalled inside"
    if failed or still:
        sign = "it timed out" if failed else "it does not end"
        known = f"and {sign}: it stalled inside, on the communication side"
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.UNKNOWN,
        summary=(
            f"Everyone has arrived at {place}, {known}; {case.word}s cannot tell who holds it up."
        ),
        confidence=0.5 if failed or still else 0.4,
        trace=(
            *trace,
            "all members have launched the open operation: nobody is missing",
            "what would tell: a second sample, WR and WC, NIC counters, each process's state",
        ),
        suspects=victims(case, case.progress.waiting),
        recommendations=[Recommendation(Action.WATCH, JOB, _what_would_tell(case, still))],
    )


def _what_would_tell(case: Case, still: bool) -> str:
    if case.word == "dump":
        return "Take a second set of dumps, process states and NIC counters before acting."
    nics = "the NIC counters of the job's hosts, and hand in Flight Recorder dumps."
    return f"Look at {nics}" if still else f"Take a second sample; look at {nics}"


def quiet_verdict(case: Case, trace: Sequence[str]) -> Conclusion:
    """Nothing is open anywhere: healthy, as far as the dumps that are here reach."""
    missing = case.progress.missing
    lines = (*trace, "no operation is open on any rank")
    if not missing:
        return conclusion(
            case,
            kind=IncidentKind.NONE,
            cls=VerdictClass.HEALTHY,
            summary=(
                f"All {len(case.progress.world)} ranks completed every collective that they "
                "launched."
            ),
            confidence=0.9,
            trace=lines,
            recommendations=[
                Recommendation(
                    Action.NONE, JOB, "If the job stands still, look outside the collectives."
                )
            ],
        )
    few = len(missing) <= case.settings.absent_share * len(case.progress.world)
    suspects = [
        Suspect(case.target(rank), 0.5 / len(missing), Role.POSSIBLE, NO_DUMP)
        for rank in missing[: case.settings.victims_shown]
        if few
    ]
    return conclusion(
        case,
        kind=IncidentKind.NONE,
        cls=VerdictClass.UNKNOWN,
        summary=(f"No rank waits in a collective, but {ranks_text(missing)} left no dump."),
        confidence=0.4,
        trace=(*lines, f"no dump of {ranks_text(missing)}"),
        suspects=suspects,
        recommendations=[
            Recommendation(Action.WATCH, JOB, f"Hand in the dumps of {ranks_text(missing)} too.")
        ],
    )
