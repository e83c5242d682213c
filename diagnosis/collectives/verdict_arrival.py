"""Verdicts from who did not arrive: missing ranks, stopped GPUs, processes that ended."""

from collections.abc import Sequence

from diagnosis.collectives.held_back import held_back
from diagnosis.collectives.report import (
    JOB,
    Case,
    conclusion,
    count,
    isolate_and_restart,
    on_hosts,
    operation_finding,
    ranks_text,
    victims,
    waits_in,
)
from diagnosis.collectives.sink_words import awaited, lines_of, proof_of, summary_of, what_of
from diagnosis.collectives.verdict_absent import NO_DUMP, absent_verdict, uncovered_verdict
from diagnosis.collectives.wait_graph import Sink, Standing, WaitGraph
from diagnosis.core.diagnosis import Conclusion, Recommendation, Suspect
from diagnosis.core.words import Action, IncidentKind, Role, VerdictClass

MISSING = "collective-rank-missing"
STOPPED = "collective-gpu-stopped"
ENDED = "process-ended"
STALL = "collective-stall"
_STOPPED = {Standing.OUTSIDE, Standing.OVERTAKEN, Standing.IDLE}
#: More ranks than that which stopped launching early have a cause in common.
_FURTHER_FAULTS = 2


def arrival_verdict(case: Case, graph: WaitGraph, trace: Sequence[str]) -> Conclusion:
    """Who the others wait for, by what is known of each of those ranks."""
    culprits = [sink for sink in graph.sinks if _is_culprit(case, sink)]
    absent = [s for s in graph.sinks if s.standing is Standing.ABSENT and s not in culprits]
    behind = [s for s in graph.sinks if s not in culprits and s not in absent]
    lines = (*trace, *lines_of(case, graph))
    if culprits:
        return _culprits(case, graph, culprits, absent, lines)
    if absent and not _too_many_absent(case, absent):
        return absent_verdict(case, graph, absent, lines)
    if absent:
        return uncovered_verdict(case, graph, absent, lines)
    return _inside(case, graph, behind, lines)


def _is_culprit(case: Case, sink: Sink) -> bool:
    if sink.rank in case.ended_ranks:
        return True
    return sink.standing in _STOPPED and not sink.stale


def _too_many_absent(case: Case, absent: Sequence[Sink]) -> bool:
    return len(absent) > case.settings.absent_share * len(case.progress.world)


def _culprits(
    case: Case,
    graph: WaitGraph,
    culprits: Sequence[Sink],
    absent: Sequence[Sink],
    trace: Sequence[str],
) -> Conclusion:
    ranks = [sink.rank for sink in culprits]
    score = 0.95 if len(culprits) == 1 else 0.9
    suspects = [
        Suspect(case.target(s.rank), score, Role.CULPRIT, _fault(case, s), proof_of(case, graph, s))
        for s in culprits
    ]
    suspects += [
        Suspect(case.target(s.rank), 0.1, Role.POSSIBLE, NO_DUMP, proof_of(case, graph, s))
        for s in absent[: case.settings.victims_shown]
    ]
    further = [rank for rank in held_back(case.progress, graph) if rank not in ranks]
    if len(further) <= _FURTHER_FAULTS:
        suspects += [_held_back(case, rank) for rank in further]
    others = graph.blocked - set(ranks) - {s.target.rank for s in suspects}
    crashed = all(sink.rank in case.ended_ranks for sink in culprits)
    reason = f"{what_of(case, culprits[0])}; {count(len(others), 'rank')} wait for it"
    return conclusion(
        case,
        kind=IncidentKind.CRASH if crashed else IncidentKind.HANG,
        cls=VerdictClass.DISTRIBUTED,
        summary=summary_of(case, graph, culprits),
        confidence=score,
        trace=trace,
        suspects=[*suspects, *victims(case, others)],
        recommendations=isolate_and_restart(case, ranks, reason[0].upper() + reason[1:] + "."),
        decisive=True,
    )


def _held_back(case: Case, rank: int) -> Suspect:
    """It waits for the culprit as others do, and stopped launching before they did."""
    operation = case.progress.waiting[rank]
    text = (
        f"rank {rank} waits in {waits_in(case.progress, operation)} as its peers do, but launched "
        "less beyond it than they: its host may have stopped by itself"
    )
    finding = operation_finding(case, operation, text)
    return Suspect(case.target(rank), 0.3, Role.POSSIBLE, MISSING, (finding,))


def _fault(case: Case, sink: Sink) -> str:
    if sink.rank in case.ended_ranks:
        return ENDED
    return MISSING if sink.standing is Standing.OUTSIDE else STOPPED


def _inside(
    case: Case, graph: WaitGraph, behind: Sequence[Sink], trace: Sequence[str]
) -> Conclusion:
    """The waits end at ranks that stand in an operation: in flight, or stalled inside it."""
    ranks = [sink.rank for sink in behind]
    score = min(0.6, 1.0 / len(behind))
    first = case.progress.waiting.get(ranks[0])
    place = waits_in(case.progress, first) if first else awaited(case, behind[0])
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.UNKNOWN,
        summary=(
            f"{ranks_text(ranks).capitalize()}{on_hosts(case, ranks)} "
            f"{'is' if len(ranks) == 1 else 'are'} still in {place} and "
            f"{count(len(graph.blocked), 'other rank')} wait for that: "
            "in flight, or stalled inside."
        ),
        confidence=score,
        trace=(*trace, "they have arrived; one snapshot cannot tell slow from stalled"),
        suspects=[
            *(
                Suspect(case.target(s.rank), score, Role.POSSIBLE, STALL, proof_of(case, graph, s))
                for s in behind[: case.settings.victims_shown]
            ),
            *victims(case, graph.blocked),
        ],
        recommendations=[
            Recommendation(
                Action.WATCH,
                JOB,
                "Take a second dump a minute later, and the NIC counters of these ranks' hosts.",
            )
        ],
    )
