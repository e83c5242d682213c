"""Who stopped, from counters of any source: launches first, then work requests, then honesty.

One sample proves nothing: without a second one that shows the same, or a time-out that the logs
tell of, whoever is behind is `possible` and nobody is isolated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from diagnosis.collectives.circle import circle_by_counters
from diagnosis.collectives.report import JOB, Case, conclusion, count
from diagnosis.collectives.settings import CollectiveSettings
from diagnosis.collectives.sheets import Joined, joined
from diagnosis.collectives.slow_ranks import SlowRank, slow_ranks
from diagnosis.collectives.summaries import summary_graph
from diagnosis.collectives.verdict_arrival import arrival_verdict
from diagnosis.collectives.verdict_quiet import in_flight_verdict, quiet_verdict
from diagnosis.collectives.verdict_slow import slow_verdict
from diagnosis.collectives.verdict_transport import outstanding, transport_verdict
from diagnosis.collectives.wait_graph import WaitGraph
from diagnosis.core.collectives import NOT_KNOWN, CollectiveProgress, Communicator, Ints
from diagnosis.core.counters import CounterRow, CounterSheet
from diagnosis.core.diagnosis import Conclusion, Recommendation
from diagnosis.core.placement import Placement
from diagnosis.core.words import Action, EvidenceKind, IncidentKind, Role, VerdictClass

SECOND_SAMPLE = "Take a second sample a minute later; only a rank that stays behind is stuck."
_ONE_SAMPLE_SCORE = 0.6
_NOBODY_ENDED: Mapping[int, str] = {}


@dataclass(frozen=True, slots=True)
class Told:
    """What is known beside the counters of one moment.

    `still` says that a second sample, or a time-out, rules out a job in motion; `moved` that two
    samples differ. `latest` are the rows behind the counters, by (communicator, rank), `slow` the
    ranks that their timings show to be slow.
    """

    still: bool = False
    moved: bool = False
    latest: Mapping[tuple[int, int], CounterRow] = field(default_factory=dict)
    source: str = "counters"
    slow: Sequence[SlowRank] = ()


def localise_sheet(
    sheet: CounterSheet,
    *,
    placement: Placement | None = None,
    ended_ranks: Mapping[int, str] = _NOBODY_ENDED,
    timed_out: bool = False,
    settings: CollectiveSettings | None = None,
) -> tuple[Conclusion, CollectiveProgress]:
    """Judge rows of counters, whatever sources they come from."""
    chosen, known = settings or CollectiveSettings(), placement or Placement()
    found = joined(sheet, known)
    stands = found.still_s is not None and found.still_s >= chosen.still_s
    told = Told(
        still=not found.moved and (stands or timed_out),
        moved=found.moved,
        latest=found.latest,
        source=next((row.evidence for row in sheet.rows), "counters"),
        slow=slow_ranks(found, chosen),
    )
    return localise_summaries(
        found.communicators,
        placement=known,
        ended_ranks=ended_ranks,
        settings=chosen,
        world=found.world,
        notes=(*found.notes, *_motion_notes(found)),
        told=told,
    )


def localise_summaries(
    communicators: Sequence[Communicator],
    *,
    placement: Placement | None = None,
    ended_ranks: Mapping[int, str] = _NOBODY_ENDED,
    settings: CollectiveSettings | None = None,
    world: tuple[int, ...] | None = None,
    notes: tuple[str, ...] = (),
    told: Told | None = None,
) -> tuple[Conclusion, CollectiveProgress]:
    """Judge counter arrays: per communicator and rank the last launched, started, completed."""
    chosen, known, more = settings or CollectiveSettings(), placement or Placement(), told or Told()
    found = summary_graph(communicators, impossible_lead=chosen.impossible_lead, source=more.source)
    members = _all_ranks([c.ranks for c in communicators])
    progress = CollectiveProgress(
        communicators=tuple(communicators),
        waiting=found.waiting,
        world=tuple(members) if world is None else world,
        reported=frozenset(_all_ranks([c.ranks[c.reported] for c in communicators])),
        hosts={place.rank: place.host for place in known.places},
        notes=notes,
    )
    case = Case(
        progress, known, chosen, ended_ranks, kinds=(EvidenceKind.COUNTERS.value,), word="report"
    )
    return _judge(case, found.graph, more), progress


def _all_ranks(lists: Sequence[Ints]) -> list[int]:
    ordered = np.sort(np.concatenate(lists)) if lists else np.zeros(0, np.int64)
    found: list[int] = ordered[np.diff(ordered, prepend=ordered[:1] - 1) != 0].tolist()
    return found


def _judge(case: Case, graph: WaitGraph, told: Told) -> Conclusion:
    progress = case.progress
    trace = [
        f"counters of {len(progress.reported)} of {count(len(progress.world), 'rank')}",
        *progress.notes,
    ]
    if told.moved or (told.slow and not told.still):
        return _running(case, told, trace)
    if not any((c.enqueued != NOT_KNOWN).any() or c.wr is not None for c in progress.communicators):
        return _completions_only(case, trace)
    if found := held_up(case, graph, trace):
        return found if told.still else _of_one_sample(found)
    trace.append("every member of each communicator has launched the same")
    if requests := outstanding(case, told.latest):
        return transport_verdict(case, requests, trace, still=told.still)
    if progress.waiting:
        return in_flight_verdict(case, trace, still=told.still)
    return quiet_verdict(case, trace)


def _running(case: Case, told: Told, trace: Sequence[str]) -> Conclusion:
    """Of a job in motion somebody may be slow; who is behind at one moment says nothing."""
    if told.slow:
        return slow_verdict(case, told.slow, told.latest, trace)
    return _moving(case, trace)


def held_up(case: Case, graph: WaitGraph, trace: Sequence[str]) -> Conclusion | None:
    """Who holds the others up, by counters of any source; None where nobody waits for anybody."""
    if graph.is_circular:
        return circle_by_counters(case, graph.cycle, trace)
    return arrival_verdict(case, graph, trace) if graph.sinks else None


def _motion_notes(found: Joined) -> tuple[str, ...]:
    if found.moved:
        return ("counters moved between two samples",)
    if found.still_s is None:
        return ("every counter was told once: one sample cannot tell motion from a hang",)
    return (f"counters that were told twice show the same for {found.still_s:.0f} s",)


def _of_one_sample(found: Conclusion) -> Conclusion:
    """The same suspects, possible only: in a running job somebody is always behind."""
    suspects = tuple(
        s
        if s.role is Role.VICTIM
        else replace(s, role=Role.POSSIBLE, score=min(s.score, _ONE_SAMPLE_SCORE))
        for s in found.suspects
    )
    confidence = min(found.verdict.confidence, _ONE_SAMPLE_SCORE)
    return replace(
        found,
        verdict=replace(found.verdict, confidence=confidence),
        suspects=suspects,
        recommendations=(Recommendation(Action.WATCH, JOB, SECOND_SAMPLE),),
        trace=(*found.trace, "one sample proves nothing: nobody is isolated on it"),
        decisive=False,
    )


def _moving(case: Case, trace: Sequence[str]) -> Conclusion:
    return conclusion(
        case,
        kind=IncidentKind.NONE,
        cls=VerdictClass.UNKNOWN,
        summary="No hang is visible: the counters moved between two samples.",
        confidence=0.7,
        trace=trace,
        recommendations=[Recommendation(Action.WATCH, JOB, SECOND_SAMPLE)],
    )


def _completions_only(case: Case, trace: Sequence[str]) -> Conclusion:
    return conclusion(
        case,
        kind=IncidentKind.NONE,
        cls=VerdictClass.UNKNOWN,
        summary="Completed calls alone cannot tell who did not arrive: nobody is named.",
        confidence=0.2,
        trace=trace,
        recommendations=[
            Recommendation(
                Action.WATCH, JOB, "Hand in Flight Recorder dumps or two NCCL RAS answers."
            )
        ],
    )
