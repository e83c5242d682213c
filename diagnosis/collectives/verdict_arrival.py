"""Verdicts from who did not arrive: missing ranks, stopped GPUs, ranks without a dump."""

from collections.abc import Sequence

from diagnosis.collectives.held_back import held_back
from diagnosis.collectives.operations import describe
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
from diagnosis.collectives.silent import implicated
from diagnosis.collectives.wait_graph import Sink, Standing, WaitGraph
from diagnosis.core.collectives import NOT_KNOWN
from diagnosis.core.diagnosis import Conclusion, Finding, Recommendation, Suspect
from diagnosis.core.words import Action, IncidentKind, Role, VerdictClass

MISSING = "collective-rank-missing"
STOPPED = "collective-gpu-stopped"
NO_DUMP = "collective-no-dump"
ENDED = "process-ended"
STALL = "collective-stall"
#: More ranks than that which stopped launching early have a cause in common.
_FURTHER_FAULTS = 2
#: A rank without a dump: nothing proves it, and something may speak against others alone.
_ABSENT_MOST, _ABSENT_LEAST = 0.75, 0.05


def arrival_verdict(case: Case, graph: WaitGraph, trace: Sequence[str]) -> Conclusion:
    """Who the others wait for, by what is known of each of those ranks."""
    culprits = [sink for sink in graph.sinks if _is_culprit(case, sink)]
    absent = [s for s in graph.sinks if s.standing is Standing.ABSENT and s not in culprits]
    behind = [s for s in graph.sinks if s not in culprits and s not in absent]
    lines = (*trace, *_lines(case, graph))
    if culprits:
        return _culprits(case, graph, culprits, absent, lines)
    if absent and not _too_many_absent(case, absent):
        return _absent(case, graph, absent, lines)
    if absent:
        return _uncovered(case, graph, absent, lines)
    return _inside(case, graph, behind, lines)


def _is_culprit(case: Case, sink: Sink) -> bool:
    if sink.rank in case.ended_ranks:
        return True
    return sink.standing in {Standing.OUTSIDE, Standing.OVERTAKEN} and not sink.stale


def _too_many_absent(case: Case, absent: Sequence[Sink]) -> bool:
    return len(absent) > case.settings.absent_share * len(case.progress.world)


def _lines(case: Case, graph: WaitGraph) -> list[str]:
    verb = "waits" if len(graph.blocked) == 1 else "wait"
    lines = [f"{count(len(graph.blocked), 'rank')} {verb} for others"]
    for sink in graph.sinks[:16]:
        why = {
            Standing.ABSENT: f"no {case.word} of it was handed in",
            Standing.OUTSIDE: "it waits in no collective: it did not arrive",
            Standing.OVERTAKEN: f"its peers completed {sink.lead} operations more than it did",
            Standing.LAGGING: "it is one operation behind",
            Standing.TOGETHER: "everyone has arrived where it stands",
        }[sink.standing]
        lines.append(f"the waits end at rank {sink.rank}: {why}")
    return lines


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
        Suspect(case.target(s.rank), score, Role.CULPRIT, _fault(case, s), _proof(case, graph, s))
        for s in culprits
    ]
    suspects += [
        Suspect(case.target(s.rank), 0.1, Role.POSSIBLE, NO_DUMP, _proof(case, graph, s))
        for s in absent[: case.settings.victims_shown]
    ]
    further = [rank for rank in held_back(case.progress, graph) if rank not in ranks]
    if len(further) <= _FURTHER_FAULTS:
        suspects += [_held_back(case, rank) for rank in further]
    others = graph.blocked - set(ranks) - {s.target.rank for s in suspects}
    crashed = all(sink.rank in case.ended_ranks for sink in culprits)
    reason = f"{_what(case, culprits[0])}; {count(len(others), 'rank')} wait for it"
    return conclusion(
        case,
        kind=IncidentKind.CRASH if crashed else IncidentKind.HANG,
        cls=VerdictClass.DISTRIBUTED,
        summary=_summary(case, graph, culprits),
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
    return STOPPED if sink.standing is Standing.OVERTAKEN else MISSING


def _summary(case: Case, graph: WaitGraph, sinks: Sequence[Sink]) -> str:
    ranks = [sink.rank for sink in sinks]
    waiting = len(graph.blocked - set(ranks))
    first = sinks[0]
    who = f"{ranks_text(ranks).capitalize()}{on_hosts(case, ranks)}"
    waited = f"{count(waiting, 'other rank')} {'waits' if waiting == 1 else 'wait'}"
    if first.rank in case.ended_ranks:
        return f"{who} ended ({case.ended_ranks[first.rank]}) and {waited} for it."
    if first.standing is Standing.OVERTAKEN:
        return (
            f"{who} stopped completing operations that {'its' if len(ranks) == 1 else 'their'} "
            f"peers completed, and {waited}: the GPU or host side."
        )
    place = _awaited(case, first)
    return f"{who} did not arrive at {place} and {waited}: the computation side."


def _awaited(case: Case, sink: Sink) -> str:
    operation = case.progress.waiting[sink.edge.waiters[0]]
    communicator = case.progress.communicators[sink.edge.communicator]
    return f"{describe(operation.call)} #{sink.edge.seq} of {communicator.label}"


def _what(case: Case, sink: Sink) -> str:
    if sink.rank in case.ended_ranks:
        return f"rank {sink.rank} ended ({case.ended_ranks[sink.rank]})"
    if sink.standing is Standing.OVERTAKEN:
        return f"rank {sink.rank} completed {sink.lead} operations fewer than its peers"
    if sink.standing is Standing.ABSENT:
        return f"rank {sink.rank} left no {case.word}"
    return f"rank {sink.rank} did not arrive at {_awaited(case, sink)}"


def _proof(case: Case, graph: WaitGraph, sink: Sink) -> tuple[Finding, ...]:
    """What its counters say, and who waits for it where."""
    waiter = case.progress.waiting[sink.edge.waiters[0]]
    communicator = case.progress.communicators[sink.edge.communicator]
    peers = count(len(sink.edge.waiters), "peer")
    verb = "waits" if len(sink.edge.waiters) == 1 else "wait"
    text = (
        f"{_counted(case, sink)}; its {peers} {verb} in {waits_in(case.progress, waiter)}"
        if not sink.edge.p2p
        else f"{_counted(case, sink)}; rank {waiter.rank} waits for it in "
        f"{waits_in(case.progress, waiter)}"
    )
    proof = [operation_finding(case, waiter, text, rank=sink.rank)]
    own = case.progress.waiting.get(sink.rank)
    if own is not None:
        index = communicator.index_of_rank.get(sink.rank)
        enqueued = int(communicator.enqueued[index]) if index is not None else NOT_KNOWN
        launched = f" although it launched up to #{enqueued}" if enqueued >= sink.edge.seq else ""
        stands = f"rank {sink.rank} stands in {waits_in(case.progress, own)}{launched}"
        proof.append(operation_finding(case, own, stands))
    if sink.rank in case.ended_ranks:
        proof.append(
            Finding(
                detector="collectives.process",
                target=case.target(sink.rank),
                text=f"the process of rank {sink.rank} ended: {case.ended_ranks[sink.rank]}",
                evidence=None,
            )
        )
    return tuple(proof)


def _counted(case: Case, sink: Sink) -> str:
    communicator = case.progress.communicators[sink.edge.communicator]
    if sink.standing is Standing.ABSENT:
        return f"rank {sink.rank} left no {case.word}"
    if sink.standing is Standing.OVERTAKEN:
        return f"rank {sink.rank} completed {sink.lead} operations fewer than a peer"
    index = communicator.index_of_rank.get(sink.rank)
    launched = int(communicator.enqueued[index]) if index is not None else NOT_KNOWN
    if launched == NOT_KNOWN or sink.edge.p2p:
        return f"rank {sink.rank} has nothing open in {communicator.label}"
    return (
        f"rank {sink.rank} launched {launched} of {sink.edge.seq} collectives of "
        f"{communicator.label}"
    )


def _absent(
    case: Case, graph: WaitGraph, absent: Sequence[Sink], trace: Sequence[str]
) -> Conclusion:
    """Everyone else has arrived: the rank without a dump is the likely one, not a proven one."""
    weights = implicated(case.progress, graph, [sink.rank for sink in absent])
    absent = sorted(absent, key=lambda sink: (-weights[sink.rank], sink.rank))
    scores = {rank: _absent_score(weight) for rank, weight in weights.items()}
    ranks = sorted(rank for rank, weight in weights.items() if weight)
    summary = (
        f"{ranks_text(ranks).capitalize()}{on_hosts(case, ranks)} left no {case.word} and everyone "
        f"else waits in {_awaited(case, absent[0])}: ended, frozen or never asked for a "
        f"{case.word}."
    )
    targets = {case.target(rank).key: case.target(rank) for rank in ranks}
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.DISTRIBUTED,
        summary=summary,
        confidence=scores[absent[0].rank],
        trace=(
            *trace,
            f"a missing {case.word} is no proof of a dead rank: it stays a possible cause",
        ),
        suspects=[
            *(
                Suspect(
                    case.target(s.rank),
                    scores[s.rank],
                    Role.POSSIBLE,
                    NO_DUMP,
                    _proof(case, graph, s),
                )
                for s in absent
            ),
            *victims(case, graph.blocked),
        ],
        recommendations=[
            *(
                Recommendation(
                    Action.RUN_OFFLINE,
                    target,
                    "Look for its exit code and log, and test the host before it is used again.",
                )
                for target in targets.values()
            ),
            Recommendation(Action.RESTART_JOB, JOB, "The job cannot go on without this rank."),
        ],
    )


def _absent_score(weight: float) -> float:
    """From the share of what speaks against an absent rank; never certain."""
    return min(_ABSENT_MOST, _ABSENT_MOST * weight + 0.1) if weight else _ABSENT_LEAST


def _uncovered(
    case: Case, graph: WaitGraph, absent: Sequence[Sink], trace: Sequence[str]
) -> Conclusion:
    world = len(case.progress.world)
    missing = [sink.rank for sink in absent]
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.UNKNOWN,
        summary=(
            f"Cannot tell: {world - len(case.progress.missing)} of {world} ranks handed in a "
            f"{case.word}, and those wait for ranks that did not."
        ),
        confidence=0.2,
        trace=(*trace, f"too few {case.word}s: nothing is known of {ranks_text(missing)}"),
        suspects=victims(case, graph.blocked),
        recommendations=[
            Recommendation(
                Action.WATCH, JOB, f"Hand in the {case.word}s of {ranks_text(missing)} too."
            )
        ],
    )


def _inside(
    case: Case, graph: WaitGraph, behind: Sequence[Sink], trace: Sequence[str]
) -> Conclusion:
    """The waits end at ranks that stand in an operation: in flight, or stalled inside it."""
    ranks = [sink.rank for sink in behind]
    score = min(0.6, 1.0 / len(behind))
    first = case.progress.waiting.get(ranks[0])
    place = waits_in(case.progress, first) if first else _awaited(case, behind[0])
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
                Suspect(case.target(s.rank), score, Role.POSSIBLE, STALL, _proof(case, graph, s))
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
