"""Operations that count as over and may have failed: the last words of ranks whose peer is gone.

Backends without events (gloo) retire an operation that ended in an error just as one that ended
well. Where a member left no dump, and no other member was seen to go on after it, a rank's last
operation may be the one that its peer's death ended.
"""

from collections.abc import Mapping, Sequence

from diagnosis.collectives.membership import GroupKey, Membership
from diagnosis.collectives.operations import BACKENDS_WITHOUT_EVENTS
from diagnosis.core.collectives import NOT_KNOWN, Entries, RankDump


def failed_ends(dumps: Sequence[RankDump], members: Membership) -> Mapping[int, int]:
    """Rank → the row of its last operation, where that may have failed.

    Who launches anything after an operation, in whichever group, saw that one end well.
    """
    spoke = {dump.rank for dump in dumps}
    last: dict[int, tuple[GroupKey, int]] = {}
    ended_well: dict[GroupKey, int] = {}
    for dump in dumps:
        if not len(dump.entries) or not is_blind(dump.entries):
            continue
        row = len(dump.entries) - 1
        for name, seq in _last_of_each(dump.entries, row).items():
            key = members.keys[dump.rank][name]
            ended_well[key] = max(ended_well.get(key, seq), seq)
        name, _ = dump.entries.groups[int(dump.entries.group[row])]
        last[dump.rank] = members.keys[dump.rank][name], row
    return {
        dump.rank: last[dump.rank][1]
        for dump in dumps
        if dump.rank in last
        and not spoke.issuperset(members.members[last[dump.rank][0]])
        and _seq(dump, last[dump.rank][1]) > ended_well.get(last[dump.rank][0], NOT_KNOWN)
    }


def is_blind(entries: Entries) -> bool:
    """Does the backend of all entries record no more than that an operation is retired?"""
    return all(backend in BACKENDS_WITHOUT_EVENTS for backend in entries.backends)


def _last_of_each(entries: Entries, before: int) -> Mapping[str, int]:
    """Group name → its last sequence number in the rows `before` one."""
    names = [name for name, _ in entries.groups]
    earlier = zip(entries.group[:before].tolist(), entries.seq[:before].tolist(), strict=True)
    return {names[group]: seq for group, seq in earlier}


def _seq(dump: RankDump, row: int) -> int:
    return int(dump.entries.seq[row])
