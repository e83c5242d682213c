"""What the ranks' watchdogs say together: who waits where, whose call differs, who is silent."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue

#: Operations in which every rank gives and gets the same size.
_EVEN = ("ALLREDUCE", "_ALLGATHER_BASE", "ALLGATHER_BASE", "_REDUCE_SCATTER_BASE")


@dataclass(frozen=True, slots=True)
class Waiting:
    """Where one rank waits, by its own watchdog."""

    rank: int
    sequence: int | None
    operation: str | None
    sizes: tuple[int | None, int | None] | None
    enqueued: int | None
    completed: int | None
    group: str | None
    clue: Clue


@dataclass(frozen=True, slots=True)
class Standstill:
    """All ranks of one group that wait, and what is odd about them.

    `odd`: ranks whose call differs from the majority's, with `odd_reason`; `tied` when no side is
    the majority. `relaying`: ranks that only pass a signal on and wait for nothing themselves.
    `silent`: members that say nothing, known only where the number of ranks is. `behind`: ranks
    that have not enqueued the work in which the others wait, or still wait in one before it.
    """

    group: str
    waiting: tuple[Waiting, ...]
    odd: tuple[int, ...] = ()
    odd_reason: str = ""
    tied: bool = False
    relaying: tuple[int, ...] = ()
    silent: tuple[int, ...] = ()
    behind: tuple[int, ...] = ()


def standstills(case: Case) -> list[Standstill]:
    """The groups that stand still, largest first."""
    reports = [clue for clue in case.clues if clue.report is not None]
    waiting = _waiting(reports)
    groups: dict[str, list[Waiting]] = {}
    comparable = _is_default_only(reports)
    for rank, one in sorted(waiting.items()):
        group = one.group or ("default" if comparable else f"unknown of rank {rank}")
        groups.setdefault(group, []).append(one)
    relaying: set[int] = {
        clue.place.rank
        for clue in reports
        if clue.report and clue.report.relayed and clue.place.rank is not None
    } - set(waiting)
    found = [_standstill(case, name, members, relaying) for name, members in groups.items()]
    return sorted(found, key=lambda one: (-len(one.waiting), one.group))


def _waiting(reports: Sequence[Clue]) -> dict[int, Waiting]:
    """One entry a rank: what its reports say together about the work it waits in."""
    found: dict[int, Waiting] = {}
    for clue in reports:
        report, rank = clue.report, clue.place.rank
        if report is None or rank is None or not report.timed_out:
            continue
        known = found.get(rank)
        new = Waiting(
            rank,
            report.sequence,
            report.operation,
            (report.numel_in, report.numel_out) if report.numel_in is not None else None,
            report.enqueued,
            report.completed,
            report.group,
            clue,
        )
        found[rank] = new if known is None else _joined(known, new)
    return found


def _joined(known: Waiting, new: Waiting) -> Waiting:
    """Two reports of one rank. Reports of different works stay apart: the first one stands."""
    if None not in {known.sequence, new.sequence} and known.sequence != new.sequence:
        return known
    return Waiting(
        known.rank,
        new.sequence if known.sequence is None else known.sequence,
        known.operation or new.operation,
        known.sizes or new.sizes,
        new.enqueued if known.enqueued is None else known.enqueued,
        new.completed if known.completed is None else known.completed,
        known.group or new.group,
        known.clue,
    )


def _is_default_only(reports: Sequence[Clue]) -> bool:
    """Do all reports speak of the default group? Then a group that is not named is that one.

    Where a line names both the global and the group's rank and they differ, there are other groups.
    """
    for clue in reports:
        if clue.report and clue.report.group not in {None, "default"}:
            return False
        local = clue.part("group_rank")
        if local is not None and clue.place.rank is not None and int(local) != clue.place.rank:
            return False
    return True


def _standstill(
    case: Case, name: str, members: Sequence[Waiting], relaying: set[int]
) -> Standstill:
    odd, reason, tied = _odd_ones(members)
    silent: tuple[int, ...] = ()
    if name == "default" and case.world_size is not None:
        silent = tuple(sorted(set(range(case.world_size)) - {one.rank for one in members}))
    return Standstill(
        group=name,
        waiting=tuple(members),
        odd=odd,
        odd_reason=reason,
        tied=tied,
        relaying=tuple(sorted(relaying)),
        silent=silent,
        behind=_behind(case, name, members),
    )


def _behind(case: Case, name: str, members: Sequence[Waiting]) -> tuple[int, ...]:
    """Ranks of the group that have not come to the work that most wait in."""
    waits = Counter(one.sequence for one in members if one.sequence is not None)
    if not waits:
        return ()
    sequence, most = waits.most_common(1)[0]
    waiting = {one.rank for one in members if one.sequence is not None}
    not_enqueued = {
        clue.place.rank
        for clue in case.clues
        if clue.report
        and clue.place.rank is not None
        and clue.place.rank not in waiting
        and clue.report.group == name
        and clue.report.enqueued is not None
        and 0 <= clue.report.enqueued < sequence
    }
    earlier = {one.rank for one in members if one.sequence is not None and one.sequence < sequence}
    return tuple(sorted(not_enqueued | earlier if len(earlier) < most else not_enqueued))


def _odd_ones(members: Sequence[Waiting]) -> tuple[tuple[int, ...], str, bool]:
    """Ranks whose call differs from the majority's: by operation and order, then by size.

    Whoever still waits in what most peers completed called the same then: its GPU stopped.
    """
    told = sorted(one.completed for one in members if one.completed is not None)
    completed = told[(len(told) - 1) // 2] if told else -1
    calls = {
        one.rank: (one.sequence, one.operation)
        for one in members
        if one.operation and (one.sequence is None or one.sequence >= completed)
    }
    if len(set(calls.values())) > 1 and len({call[1] for call in calls.values()}) > 1:
        ranks, tied = _minority(calls)
        return ranks, "another collective than the other ranks", tied
    sizes = {one.rank: one.sizes for one in members if one.sizes and one.operation in _EVEN}
    same_place = len({one.sequence for one in members if one.rank in sizes}) == 1
    if same_place and len(set(sizes.values())) > 1:
        ranks, tied = _minority(sizes)
        return ranks, "another size than the other ranks", tied
    return (), "", False


def _minority(calls: Mapping[int, object]) -> tuple[tuple[int, ...], bool]:
    """The ranks outside the largest side; `tied` (and all ranks) when two sides are as large."""
    counted = Counter(calls.values()).most_common()
    if len(counted) > 1 and counted[0][1] == counted[1][1]:
        return tuple(sorted(calls)), True
    usual = counted[0][0]
    return tuple(sorted(rank for rank, call in calls.items() if call != usual)), False
