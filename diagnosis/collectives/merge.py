"""From single dumps to one `CollectiveProgress`: counters, and where each rank waits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from diagnosis.collectives.failed_ends import failed_ends
from diagnosis.collectives.membership import GroupKey, Membership, membership_of
from diagnosis.collectives.open_operations import open_operations
from diagnosis.collectives.rank_views import RankView, finished, views_of_dump
from diagnosis.core.collectives import Bools, CollectiveProgress, Communicator, Counters, RankDump
from diagnosis.core.placement import Placement


@dataclass(frozen=True)
class Merged:
    """The progress, and the dumps with their rows by communicator for rules that compare calls."""

    progress: CollectiveProgress
    dumps: tuple[RankDump, ...]
    views: Mapping[tuple[int, int], RankView]

    @cached_property
    def views_in(self) -> Mapping[int, Sequence[tuple[RankDump, RankView]]]:
        """Communicator → its members' dumps and views, in rank order."""
        by_rank = {dump.rank: dump for dump in self.dumps}
        found: dict[int, list[tuple[RankDump, RankView]]] = {}
        for index, rank in sorted(self.views):
            found.setdefault(index, []).append((by_rank[rank], self.views[index, rank]))
        return found

    @cached_property
    def views_of(self) -> Mapping[int, Sequence[tuple[int, RankView]]]:
        """Rank → its communicators and views, in the order of communicators."""
        found: dict[int, list[tuple[int, RankView]]] = {}
        for index, rank in sorted(self.views):
            found.setdefault(rank, []).append((index, self.views[index, rank]))
        return found


def one_dump_a_rank(dumps: Sequence[RankDump]) -> tuple[tuple[RankDump, ...], tuple[str, ...]]:
    """The latest dump of each rank in rank order, and a note where others were set aside."""
    latest: dict[int, RankDump] = {}
    for dump in sorted(dumps, key=_recency):
        latest[dump.rank] = dump
    spare = len(dumps) - len(latest)
    notes = (f"{spare} older or double dumps were set aside, one a rank is used",) if spare else ()
    return tuple(latest[rank] for rank in sorted(latest)), notes


def _recency(dump: RankDump) -> tuple[int, int, int, str]:
    entries = dump.entries
    last = int(entries.created_ns.max()) if len(entries) else 0
    framed = sum(len(stack) > 0 for stack in entries.stacks)
    return last, len(entries), framed, dump.source


def merge(dumps: Sequence[RankDump], placement: Placement) -> Merged:
    """All dumps of one attempt as one progress; the order of `dumps` does not matter."""
    ordered, notes = one_dump_a_rank(dumps)
    members = membership_of(ordered, placement)
    keys = sorted(members.members, key=lambda key: (len(key.name), key.name, key.ranks))
    number = {key: index for index, key in enumerate(keys)}
    reported = frozenset(dump.rank for dump in ordered)
    done = {dump.rank: finished(dump.entries) for dump in ordered}
    views = _all_views(ordered, members, number, done)
    if any(len(view.open_collectives) for view in views.values()) and (
        doubtful := failed_ends(ordered, members)
    ):
        for rank, row in doubtful.items():
            done[rank][row] = False
        views = _all_views(ordered, members, number, done)
    communicators = tuple(
        _communicator(index, key, members, views, reported) for index, key in enumerate(keys)
    )
    waiting, open_in = open_operations(ordered, views, communicators)
    progress = CollectiveProgress(
        communicators=communicators,
        waiting=waiting,
        open_in=open_in,
        world=members.world,
        reported=reported,
        hosts=_hosts(ordered, placement),
        notes=(*notes, *_notes(ordered, members, communicators)),
    )
    return Merged(progress=progress, dumps=ordered, views=views)


def _all_views(
    dumps: Sequence[RankDump],
    members: Membership,
    number: Mapping[GroupKey, int],
    done: Mapping[int, Bools],
) -> dict[tuple[int, int], RankView]:
    return {
        (number[key], dump.rank): view
        for dump in dumps
        for key, view in views_of_dump(dump, members, done[dump.rank]).items()
    }


def _communicator(
    index: int,
    key: GroupKey,
    members: Membership,
    views: Mapping[tuple[int, int], RankView],
    dumped: frozenset[int],
) -> Communicator:
    ranks = members.members[key]
    found = [views.get((index, rank)) for rank in ranks]
    counters = [view.counters if view else Counters() for view in found]
    return Communicator(
        name=key.name,
        desc=members.descriptions[key],
        ranks=np.asarray(ranks, np.int64),
        enqueued=np.asarray([item.enqueued for item in counters], np.int64),
        started=np.asarray([item.started for item in counters], np.int64),
        completed=np.asarray([item.completed for item in counters], np.int64),
        reported=np.asarray([rank in dumped for rank in ranks], np.bool_),
        has_p2p=any(view.has_p2p for view in found if view),
    )


def _hosts(dumps: Sequence[RankDump], placement: Placement) -> dict[int, str]:
    """Where each rank runs: the placement's word, else what named its dump."""
    hosts = {dump.rank: dump.host for dump in dumps if dump.host}
    return hosts | {place.rank: place.host for place in placement.places}


def _notes(
    dumps: Sequence[RankDump], members: Membership, communicators: Sequence[Communicator]
) -> tuple[str, ...]:
    notes = []
    if len({dump.version for dump in dumps}) > 1:
        notes.append("dumps of different versions are compared; only what all have is used")
    if members.inferred:
        notes.append(
            f"{len(members.inferred)} of {len(communicators)} groups name no ranks; their members "
            "are taken from the entries"
        )
    if dumps and not any(finished(dump.entries).any() for dump in dumps):
        notes.append("the dumps hold active operations only; counters fill in what is finished")
    return tuple(notes)
