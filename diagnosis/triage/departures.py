"""Who left first, by the launcher's exit lines and by the neighbours on its host."""

import re
from collections import Counter
from collections.abc import Sequence

from diagnosis.core.diagnosis import Recommendation, Suspect
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, SignatureClass, TargetKind, VerdictClass
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue, is_before
from diagnosis.triage.outcome import Outcome
from diagnosis.triage.suspects import job_target, shown, suspect

_DEVICE = re.compile(r"\[(\d+)\] NCCL INFO")
_EXIT_CODES = ("torchrun-exit", "slurm-task-exit", "mpi-abort")


def judge_departed(case: Case, job: str | None) -> Outcome | None:
    """A rank that went before the others failed: possible, since an exit says nothing of why."""
    suspects = _ended_first(case) or _closed_first(case)
    if not suspects:
        return None
    first = suspects[0]
    return Outcome(
        cls=VerdictClass.DISTRIBUTED,
        kind=IncidentKind.CRASH,
        summary=(
            f"{shown(first.target)} ended and the errors of the others follow from it; why it "
            "ended is not in these logs. Look for its own error and for its host's out-of-memory "
            "killer, then restart the job."
        ),
        confidence=first.score,
        suspects=tuple(suspects),
        recommendations=(
            Recommendation(Action.RESTART_JOB, job_target(job), "No part is shown to be bad."),
        ),
        trace=(f"{len(suspects)} ranks left before the others failed, without a reason",),
    )


def exit_clues(case: Case) -> list[Clue]:
    """Lines of the launcher or scheduler that report the end of a process."""
    return [c for c in case.clues if c.code.startswith(_EXIT_CODES)]


def rank_suspect(case: Case, rank: int, clues: Sequence[Clue], score: float) -> Suspect:
    """A rank that ended, on its host where anything tells it."""
    host = next((clue.place.host for clue in clues if clue.place.host), None)
    target = case.placement.target_of_rank(rank)
    if target.host is None and host is not None:
        target = Target(TargetKind.RANK, name=f"rank {rank}", host=host, rank=rank)
    fault = clues[0].code if clues else "torchrun-exit-signal"
    return suspect(target, score, clues, fault=fault)


def _ended_first(case: Case) -> list[Suspect]:
    """Ranks that ended not later than the first failure of the others, as far as that is known."""
    failures = case.of(SignatureClass.DISTRIBUTED)
    if not failures:
        return []
    early = []
    for rank in sorted(case.ended_ranks):
        own = [clue for clue in exit_clues(case) if clue.place.rank == rank]
        late = [c for c in own if any(is_before(f, c) is True for f in failures)]
        if own and not late:
            early.append((rank, own))
    score = 0.6 / max(1, len(early))
    return [rank_suspect(case, rank, own, score) for rank, own in early[:8]]


def _closed_first(case: Case) -> list[Suspect]:
    """The local rank that two others saw closing its connections, when all of them name one."""
    closed: Counter[tuple[str | None, str]] = Counter()
    clues: dict[tuple[str | None, str], list[Clue]] = {}
    for clue in case.clues:
        local, device = clue.part("local_rank"), _DEVICE.search(clue.text)
        if clue.code != "nccl-local-closed" or local is None or device is None:
            continue
        if device[1] == local:
            continue
        closed[(clue.place.machine, local)] += clue.count
        clues.setdefault((clue.place.machine, local), []).append(clue)
    if len(closed) != 1 or sum(closed.values()) < 2:
        return []
    own = next(iter(clues.values()))
    rank = own[0].place.rank
    if rank is None:
        return []
    return [rank_suspect(case, rank, own, 0.5)]
