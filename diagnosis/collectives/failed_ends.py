"""Operations that count as over and may have failed: the last words of ranks whose peer is gone.

Backends without events (gloo) retire an operation that ended in an error just as one that ended
well. Where a member left no dump, and no other member was seen to go beyond, a rank's last
operation may be the one that its peer's death ended.
"""

from collections.abc import Mapping, Sequence

from diagnosis.collectives.membership import GroupKey, Membership
from diagnosis.collectives.operations import BACKENDS_WITHOUT_EVENTS
from diagnosis.core.collectives import Entries, RankDump


def failed_ends(dumps: Sequence[RankDump], members: Membership) -> Mapping[int, int]:
    """Rank → the row of its last operation, where that may have failed."""
    spoke = {dump.rank for dump in dumps}
    last: dict[int, tuple[GroupKey, int]] = {}
    farthest: dict[GroupKey, int] = {}
    for dump in dumps:
        if not len(dump.entries) or not is_blind(dump.entries):
            continue
        for name, seq in _last_of_each(dump.entries).items():
            key = members.keys[dump.rank][name]
            farthest[key] = max(farthest.get(key, seq), seq)
        row = len(dump.entries) - 1
        name, _ = dump.entries.groups[int(dump.entries.group[row])]
        last[dump.rank] = members.keys[dump.rank][name], row
    return {
        dump.rank: last[dump.rank][1]
        for dump in dumps
        if dump.rank in last
        and not spoke.issuperset(members.members[last[dump.rank][0]])
        and _seq(dump, last[dump.rank][1]) == farthest[last[dump.rank][0]]
    }


def is_blind(entries: Entries) -> bool:
    """Does the backend of all entries record no more than that an operation is retired?"""
    return all(backend in BACKENDS_WITHOUT_EVENTS for backend in entries.backends)


def _last_of_each(entries: Entries) -> Mapping[str, int]:
    names = [name for name, _ in entries.groups]
    return {
        names[group]: seq
        for group, seq in zip(entries.group.tolist(), entries.seq.tolist(), strict=True)
    }


def _seq(dump: RankDump, row: int) -> int:
    return int(dump.entries.seq[row])
