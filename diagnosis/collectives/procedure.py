"""Phase 2: who stopped the collectives, from what every rank recorded of them.

The order of the rules (docs/algorithms.md, section 2): a mismatch outranks a death; then the
wait-for graph over all communicators; a circle is a deadlock by call order, a sink is the cause;
then motion, stalls inside, stragglers, and the healthy end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from diagnosis.collectives.lateness import Straggler, stragglers
from diagnosis.collectives.lateness_by_rank import late_by_rank
from diagnosis.collectives.merge import Merged, merge
from diagnosis.collectives.mismatch import mismatches
from diagnosis.collectives.out_of_step import out_of_step
from diagnosis.collectives.report import Case, count, ranks_text
from diagnosis.collectives.settings import CollectiveSettings
from diagnosis.collectives.verdict_arrival import arrival_verdict
from diagnosis.collectives.verdict_out_of_step import out_of_step_verdict
from diagnosis.collectives.verdict_quiet import (
    STRAGGLER,
    in_flight_verdict,
    left_outside_verdict,
    quiet_verdict,
    running_verdict,
    straggler_verdict,
)
from diagnosis.collectives.verdict_user import (
    deadlock_verdict,
    first_mismatch,
    mismatch_verdict,
)
from diagnosis.collectives.wait_graph import Standing, WaitGraph, overtaken, wait_graph
from diagnosis.core.collective_reports import CollectiveReports
from diagnosis.core.collectives import CollectiveProgress, RankDump
from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.placement import Placement

#: So many missing ranks, or hosts that miss some, are never called scattered.
_FEW = 2

_NOBODY_ENDED: Mapping[int, str] = {}


def localise(
    dumps: Sequence[RankDump],
    *,
    placement: Placement | None = None,
    ended_ranks: Mapping[int, str] = _NOBODY_ENDED,
    reports: CollectiveReports | None = None,
    settings: CollectiveSettings | None = None,
) -> tuple[Conclusion, CollectiveProgress]:
    """Judge the dumps of one attempt; the order of `dumps` does not change the answer.

    `ended_ranks` says of which ranks the end is known and how (`{3: "exit code -9"}`); an end that
    nobody waits for is taken for a consequence. `reports` are the logs' statements about the same
    attempt: a time-out that they tell of rules out that the dumps show a job in motion.
    """
    merged = merge(dumps, placement or Placement())
    case = Case(
        merged.progress, placement or Placement(), settings or CollectiveSettings(), ended_ranks
    )
    found = _judge(case, merged, _timed_out(merged, reports))
    return found, _with_lateness(found, merged, case.settings)


def _with_lateness(
    found: Conclusion, merged: Merged, settings: CollectiveSettings
) -> CollectiveProgress:
    """The progress; where someone is late, with how late everyone is."""
    if not found.suspects or found.suspects[0].fault != STRAGGLER:
        return merged.progress
    return replace(merged.progress, late_ms=late_by_rank(merged, settings))


def _timed_out(merged: Merged, reports: CollectiveReports | None) -> bool:
    """Did a watchdog give up, by its own words or by an operation it retired unfinished?"""
    said = reports is not None and any(report.timed_out for report in reports.work)
    return said or any(operation.failed for operation in merged.progress.waiting.values())


def _judge(case: Case, merged: Merged, timed_out: bool) -> Conclusion:
    trace = _opening(case)
    if differing := mismatches(merged):
        return mismatch_verdict(case, first_mismatch(differing), _with_deaths(case, trace))
    trace.append("no two ranks disagree on operation, size or dtype where anyone is stuck")
    graph = wait_graph(case.progress, case.settings.impossible_lead)
    if wrong_order := _wrong_order(case, merged, graph, trace):
        return wrong_order
    late = () if timed_out else stragglers(merged, case.settings)
    if not graph.sinks:
        return _nobody_missing(case, late, trace)
    if _is_moving(case, graph) or (not timed_out and _most_are_free(case, graph)):
        return _in_motion(case, graph, late, trace, timed_out=timed_out)
    if late and _explains(graph, {item.rank for item in late}):
        trace.append("the rank that is missing now was late at every step before")
        return straggler_verdict(case, late, trace)
    return arrival_verdict(case, graph, trace)


def _wrong_order(
    case: Case, merged: Merged, graph: WaitGraph, trace: Sequence[str]
) -> Conclusion | None:
    """Calls, sends or receives in another order than the others', where that explains the stop."""
    if circle := _circle(case, graph):
        return deadlock_verdict(case, merged, circle, trace)
    if odd := _out_of_step(merged, graph):
        return out_of_step_verdict(case, odd, graph, trace)
    return None


def _out_of_step(merged: Merged, graph: WaitGraph) -> list[int]:
    """The odd ones among the ranks at which all waits end, where each stands in an operation."""
    arrived = {Standing.LAGGING, Standing.TOGETHER}
    if any(sink.standing not in arrived for sink in graph.sinks):
        return []
    odd = out_of_step(merged, [sink.rank for sink in graph.sinks])
    return odd if len(odd) < len(graph.sinks) else []


def _circle(case: Case, graph: WaitGraph) -> WaitGraph | None:
    """The graph with a circle that explains the stop; ranks without a dump may have arrived, and
    a circle that closes without them needs no other cause."""
    absent = frozenset(case.progress.missing)
    graphs = [graph]
    if absent:
        graphs.append(wait_graph(case.progress, case.settings.impossible_lead, arrived=absent))
    return next((one for one in graphs if one.is_circular), None)


def _nobody_missing(case: Case, late: Sequence[Straggler], trace: list[str]) -> Conclusion:
    if late:
        return straggler_verdict(case, late, trace)
    if case.progress.waiting:
        return in_flight_verdict(case, trace)
    return quiet_verdict(case, [*trace, "no rank is late by more than the usual spread"])


def _in_motion(
    case: Case, graph: WaitGraph, late: Sequence[Straggler], trace: list[str], *, timed_out: bool
) -> Conclusion:
    if timed_out:
        return left_outside_verdict(case, graph, [*trace, "a watchdog timed out: no motion"])
    if late:
        return straggler_verdict(case, late, trace)
    return running_verdict(case, graph, trace)


def _opening(case: Case) -> list[str]:
    progress = case.progress
    missing = f"; none of {ranks_text(progress.missing)}" if progress.missing else ""
    first = (
        f"{count(len(progress.reported), 'dump')} of {count(len(progress.world), 'rank')}, "
        f"{count(len(progress.communicators), 'communicator')}{missing}"
    )
    return [first, *progress.notes]


def _with_deaths(case: Case, trace: list[str]) -> list[str]:
    if case.progress.missing:
        trace.append(
            f"{ranks_text(case.progress.missing)} left no dump, but a mismatch outranks a death: "
            "some backends abort the neighbour that receives a wrong size"
        )
    return trace


def _is_moving(case: Case, graph: WaitGraph) -> bool:
    """Blockers outnumber those that wait for them, or ranks were dumped at different moments.

    Of the latter, two marks: every awaited rank's counters are older, or a rank that waits for
    others has itself been overtaken, which no standstill explains.
    """
    present = [sink for sink in graph.sinks if sink.standing is not Standing.ABSENT]
    if not present:
        return False
    if len(present) == len(graph.sinks) and all(sink.stale for sink in present):
        return True
    if graph.blocked & overtaken(case.progress, case.settings.impossible_lead):
        return True
    if len(present) > case.settings.blockers_per_waiter * len(graph.blocked):
        return True
    return _is_scattered(case, [sink.rank for sink in present if not sink.stale])


def _most_are_free(case: Case, graph: WaitGraph) -> bool:
    """Only overtaken ranks are awaited, and most ranks have nothing open at all.

    A GPU that stopped leaves everyone waiting before long; a few dumps that were taken a moment
    before the others leave their peers ahead of them.
    """
    if any(sink.standing is not Standing.OVERTAKEN for sink in graph.sinks):
        return False
    return 2 * len(case.progress.waiting) < len(case.progress.reported)


def _is_scattered(case: Case, ranks: Sequence[int]) -> bool:
    """Many at once and not one host: what a moment of jitter looks like, and hardly a fault."""
    many = max(_FEW, case.settings.scattered_share * len(case.progress.reported))
    hosts = {case.target(rank).host or rank for rank in ranks}
    if len(hosts) > _FEW and len(ranks) > case.settings.scattered_ranks:
        return True
    return len(ranks) > many and len(hosts) > 1


def _explains(graph: WaitGraph, late: set[int]) -> bool:
    """Are the awaited ranks those that have been late, and not stopped or gone?"""
    standings = {sink.rank: sink.standing for sink in graph.sinks}
    slow = {Standing.OUTSIDE, Standing.IDLE, Standing.LAGGING, Standing.TOGETHER}
    return set(standings) <= late and all(value in slow for value in standings.values())
