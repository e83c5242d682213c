"""Verdicts about ranks that handed in nothing while the others wait for them."""

from collections.abc import Sequence

from diagnosis.collectives.report import JOB, Case, conclusion, on_hosts, ranks_text, victims
from diagnosis.collectives.silent import implicated
from diagnosis.collectives.sink_words import awaited, proof_of
from diagnosis.collectives.wait_graph import Sink, WaitGraph
from diagnosis.core.diagnosis import Conclusion, Recommendation, Suspect
from diagnosis.core.words import Action, IncidentKind, Role, VerdictClass

NO_DUMP = "collective-no-dump"
#: A rank without a dump: nothing proves it, and something may speak against others alone.
_ABSENT_MOST, _ABSENT_LEAST = 0.75, 0.05


def absent_verdict(
    case: Case, graph: WaitGraph, absent: Sequence[Sink], trace: Sequence[str]
) -> Conclusion:
    """Everyone else has arrived: the rank without a dump is the likely one, not a proven one."""
    weights = implicated(case.progress, graph, [sink.rank for sink in absent])
    absent = sorted(absent, key=lambda sink: (-weights[sink.rank], sink.rank))
    scores = {rank: _absent_score(weight) for rank, weight in weights.items()}
    ranks = sorted(rank for rank, weight in weights.items() if weight)
    summary = (
        f"{ranks_text(ranks).capitalize()}{on_hosts(case, ranks)} left no {case.word} and everyone "
        f"else waits in {awaited(case, absent[0])}: ended, frozen or never asked for a "
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
                    proof_of(case, graph, s),
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


def uncovered_verdict(
    case: Case, graph: WaitGraph, absent: Sequence[Sink], trace: Sequence[str]
) -> Conclusion:
    """Too few ranks handed anything in to tell who holds the others up."""
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
