"""NCCL RAS in logs: the ranks that have launched fewer operations than the others."""

from collections import defaultdict

from diagnosis.core.diagnosis import Recommendation
from diagnosis.core.words import Action, IncidentKind, VerdictClass
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue
from diagnosis.triage.outcome import Outcome
from diagnosis.triage.suspects import job_target, suspect

#: The clue whose `addr` is the operation, and `rank` or `detail` (a number of ranks) who is there.
COUNTS_CODE = "ras-operation-counts"


def judge_ras(case: Case, job: str | None) -> Outcome | None:
    """The minority below the others; RAS lists only the small group, which may also be ahead."""
    listed: dict[int, list[Clue]] = defaultdict(list)
    numbers: dict[int, int] = defaultdict(int)
    for clue in case.clues:
        operation = clue.part("addr")
        if clue.code != COUNTS_CODE or operation is None:
            continue
        numbers[int(operation)] += int(clue.part("detail") or 1)
        if clue.part("rank"):
            listed[int(operation)].append(clue)
    if len(numbers) < 2:
        return None
    lowest, highest = min(numbers), max(numbers)
    behind = listed.get(lowest, [])
    if not behind or numbers[lowest] * 2 > sum(numbers.values()):
        return None
    score = 0.7 / len(behind)
    suspects = [
        suspect(case.placement.target_of_rank(clue.place.rank), score, [clue])
        for clue in behind
        if clue.place.rank is not None
    ]
    ranks = ", ".join(str(one.target.rank) for one in suspects)
    return Outcome(
        cls=VerdictClass.DISTRIBUTED,
        kind=IncidentKind.HANG,
        summary=(
            f"Rank {ranks} has launched {lowest} operations where the others have {highest}: it "
            "may not have arrived. Take a second sample and its stack before anything is isolated."
        ),
        confidence=score,
        suspects=tuple(suspects[:8]),
        recommendations=(
            Recommendation(Action.RESTART_JOB, job_target(job), "The ranks wait for each other."),
        ),
        trace=(f"RAS counts: rank {ranks} at {lowest}, the most at {highest} → possible",),
    )
