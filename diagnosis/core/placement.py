"""Placement: which rank of an attempt runs where."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from diagnosis.core.target import Target, normalise_host
from diagnosis.core.words import TargetKind


@dataclass(frozen=True, slots=True)
class RankPlace:
    """One rank's place: its host, local rank and GPU, and its position in the parallel layout."""

    rank: int
    host: str
    local_rank: int | None = None
    gpu: str | int | None = None
    gpu_uuid: str | None = None
    nic: str | None = None
    stage: int | None = None
    dp: int | None = None
    tp: int | None = None
    ep: int | None = None


@dataclass(frozen=True)
class Placement:
    """The ranks of one attempt. Empty when nothing is known; every look-up then answers None."""

    places: tuple[RankPlace, ...] = ()

    @classmethod
    def of(cls, places: Iterable[RankPlace]) -> "Placement":
        return cls(tuple(sorted(places, key=lambda place: place.rank)))

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def by_rank(self) -> Mapping[int, RankPlace]:
        return {place.rank: place for place in self.places}

    @cached_property
    def ranks_by_host(self) -> Mapping[str, tuple[int, ...]]:
        """Normalised host name → its ranks, ascending."""
        ranks: dict[str, list[int]] = {}
        for place in self.places:
            ranks.setdefault(normalise_host(place.host), []).append(place.rank)
        return {host: tuple(found) for host, found in ranks.items()}

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """Host names as given, in rank order, each once."""
        return tuple({normalise_host(p.host): p.host for p in self.places}.values())

    def host_of(self, rank: int) -> str | None:
        place = self.by_rank.get(rank)
        return place.host if place else None

    def target_of_rank(self, rank: int) -> Target:
        """The rank as a target: on its host where the placement tells it, else `kind: rank`."""
        place = self.by_rank.get(rank)
        if place is None:
            return Target(TargetKind.RANK, name=f"rank {rank}", rank=rank)
        return Target(TargetKind.HOST, name=place.host, host=place.host, gpu=place.gpu, rank=rank)
