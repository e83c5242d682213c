"""From a RAS status to collective progress: its ranks become the job's own."""

from collections.abc import Iterable, Mapping

import numpy as np

from diagnosis.core.collectives import NOT_KNOWN, CollectiveProgress, Communicator
from diagnosis.core.placement import Placement
from diagnosis.core.ras import (
    LostRank,
    RasCommunicator,
    RasMember,
    RasProcess,
    RasStatus,
)
from diagnosis.core.target import normalise_host


def progress_of(
    status: RasStatus, placement: Placement, aliases: Mapping[str, str] | None = None
) -> CollectiveProgress:
    """The status with global ranks; `enqueued` is what RAS counts as launched, the rest unknown.

    RAS names processes by address: `aliases` maps those to the placement's hosts. A rank is known
    by a communicator that spans the whole job, else by its host and GPU. Memberships of unknown
    ranks are left out, and a note says how many.
    """
    ranks = _GlobalRanks(status, placement, aliases or {})
    communicators = tuple(
        built for comm in status.communicators if (built := _communicator(comm, ranks)) is not None
    )
    reported = {int(rank) for comm in communicators for rank in comm.ranks[comm.reported]}
    seen = {int(rank) for comm in communicators for rank in comm.ranks}
    notes = list(status.notes)
    if ranks.unknown:
        notes.append(f"RAS: {ranks.unknown} memberships belong to ranks that no placement tells")
    return CollectiveProgress(
        communicators=communicators,
        world=tuple(sorted(seen | placement.by_rank.keys())),
        reported=frozenset(reported),
        hosts={place.rank: place.host for place in placement.places},
        notes=tuple(notes),
    )


def lost_ranks(
    status: RasStatus, placement: Placement, aliases: Mapping[str, str] | None = None
) -> dict[int, bool]:
    """Global ranks that did not answer, and whether RAS has given their process up for dead."""
    ranks = _GlobalRanks(status, placement, aliases or {})
    found: dict[int, bool] = {}
    for comm in status.communicators:
        for lost in comm.lost:
            rank = ranks.of(comm, lost)
            if rank is not None:
                found[rank] = found.get(rank, False) or lost.dead
    for lost in status.lost:
        rank = ranks.placed(lost.process)
        if rank is not None:
            found[rank] = found.get(rank, False) or lost.dead
    return found


class _GlobalRanks:
    """Which rank of the job a membership is, as far as it can be told; counts what cannot."""

    def __init__(self, status: RasStatus, placement: Placement, aliases: Mapping[str, str]) -> None:
        self.unknown = 0
        self._aliases = {normalise_host(k): normalise_host(v) for k, v in aliases.items()}
        self._world = len(placement)
        self._by_place: dict[tuple[str, object], int] = {}
        for place in placement.places:
            for device in (place.local_rank, place.gpu):
                if device is not None:
                    self._by_place[normalise_host(place.host), device] = place.rank
        self._by_process: dict[RasProcess, int] = {}
        for comm in status.communicators:
            if comm.size == self._world:
                self._learn(comm.ranks)
                self._learn(comm.lost)

    def _learn(self, members: Iterable[RasMember | LostRank]) -> None:
        """Who the members of a communicator of the whole job are: what is not told tells nobody."""
        told = (member for member in members if member.process.host)
        self._by_process |= {member.process: member.rank for member in told}

    def of(self, comm: RasCommunicator, member: RasMember | LostRank) -> int | None:
        if comm.size == self._world:
            return member.rank
        rank = self._by_process.get(member.process)
        if rank is None:
            rank = self.placed(member.process)
        if rank is None:
            self.unknown += 1
        return rank

    def placed(self, process: RasProcess) -> int | None:
        name = normalise_host(process.host)
        host = self._aliases.get(name, name)
        by_nvml = self._by_place.get((host, process.nvml_device))
        return self._by_place.get((host, process.cuda_device)) if by_nvml is None else by_nvml


def _communicator(comm: RasCommunicator, ranks: _GlobalRanks) -> Communicator | None:
    launched: dict[int, int] = {}
    for member in comm.ranks:
        rank = ranks.of(comm, member)
        if rank is not None:
            launched[rank] = member.total_launched
    for lost in comm.lost:
        rank = ranks.of(comm, lost)
        if rank is not None:
            launched.setdefault(rank, NOT_KNOWN)
    if not launched:
        return None
    members = sorted(launched)
    enqueued = np.array([launched[rank] for rank in members], np.int64)
    unknown = np.full(len(members), NOT_KNOWN, np.int64)
    return Communicator(
        name=comm.name,
        desc="",
        ranks=np.array(members, np.int64),
        enqueued=enqueued,
        started=unknown,
        completed=unknown.copy(),
        reported=enqueued != NOT_KNOWN,
    )
