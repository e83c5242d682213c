"""How a job's ranks form tensor-, pipeline- and data-parallel communicators.

Ranks are numbered as Megatron-LM does by default (order tp-dp-pp): neighbours share a tensor
group, then come data-parallel replicas, then pipeline stages. Groups are created in Megatron's
order, so names (a counter over the job) and ids (a counter over the process) differ from rank to
rank as they do in real dumps.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class Axis(StrEnum):
    """The role of a communicator in the job."""

    WORLD = "world"
    DATA = "data"
    TENSOR = "tensor"
    PIPELINE = "pipeline"
    EMBEDDING = "embedding"
    STAGE = "stage"


DESCRIPTIONS: Mapping[Axis, str] = {
    Axis.WORLD: "default_pg",
    Axis.DATA: "DATA_PARALLEL_GROUP_WITH_CP",
    Axis.TENSOR: "TENSOR_MODEL_PARALLEL_GROUP",
    Axis.PIPELINE: "PIPELINE_MODEL_PARALLEL_GROUP",
    Axis.EMBEDDING: "EMBEDDING_GROUP",
    Axis.STAGE: "TENSOR_AND_DATA_PARALLEL_GROUP_WITH_CP",
}


@dataclass(frozen=True, slots=True)
class Communicator:
    """One process group: its name over the whole job and its global ranks in group order."""

    index: int
    axis: Axis
    ranks: tuple[int, ...]

    @property
    def name(self) -> str:
        return str(self.index)

    @property
    def description(self) -> str:
        return DESCRIPTIONS[self.axis]


@dataclass(frozen=True, slots=True)
class Place:
    """A rank's position in the parallel layout."""

    stage: int
    dp: int
    tp: int


@dataclass(frozen=True)
class Layout:
    """A job of tp × pp × dp ranks. Axes of size one have no communicator."""

    tp: int
    pp: int
    dp: int

    def __post_init__(self) -> None:
        if min(self.tp, self.pp, self.dp) < 1:
            raise ValueError("tp, pp and dp must each be at least 1")

    @property
    def world(self) -> int:
        return self.tp * self.pp * self.dp

    @property
    def is_plain(self) -> bool:
        """Data-parallel only, as under DDP: the default group is the only one."""
        return self.tp == self.pp == 1

    def rank(self, place: Place) -> int:
        return place.tp + self.tp * (place.dp + self.dp * place.stage)

    def place(self, rank: int) -> Place:
        rest, tp = divmod(rank, self.tp)
        stage, dp = divmod(rest, self.dp)
        return Place(stage=stage, dp=dp, tp=tp)

    @cached_property
    def communicators(self) -> tuple[Communicator, ...]:
        """All groups in the order in which every rank creates them."""
        return tuple(
            Communicator(index, axis, ranks) for index, (axis, ranks) in enumerate(self._groups())
        )

    @cached_property
    def by_axis(self) -> Mapping[Axis, tuple[int, ...]]:
        """Axis → for each rank the index of its communicator there, -1 where it has none."""
        table = {axis: [-1] * self.world for axis in Axis}
        for communicator in self.communicators:
            for rank in communicator.ranks:
                table[communicator.axis][rank] = communicator.index
        return {axis: tuple(row) for axis, row in table.items()}

    @cached_property
    def _own(self) -> tuple[tuple[int, ...], ...]:
        own: list[list[int]] = [[] for _ in range(self.world)]
        for communicator in self.communicators:
            for rank in communicator.ranks:
                own[rank].append(communicator.index)
        return tuple(tuple(row) for row in own)

    def communicators_of(self, rank: int) -> tuple[Communicator, ...]:
        """The rank's groups; the position of one in this tuple is its `pg_id` on that rank."""
        return tuple(self.communicators[index] for index in self._own[rank])

    def communicator(self, axis: Axis, rank: int) -> Communicator:
        """The rank's group on the axis. Raises `ValueError` where it has none."""
        index = self.by_axis[axis][rank]
        if index < 0:
            raise ValueError(f"rank {rank} has no {axis} group")
        return self.communicators[index]

    def pg_id(self, rank: int, communicator: Communicator) -> int:
        return self._own[rank].index(communicator.index)

    def _groups(self) -> Iterator[tuple[Axis, tuple[int, ...]]]:
        yield Axis.WORLD, tuple(range(self.world))
        if self.is_plain:
            return
        if self.dp > 1:
            for stage in range(self.pp):
                for tp in range(self.tp):
                    yield Axis.DATA, self._line(range(self.dp), stage=stage, tp=tp)
        if self.tp > 1:
            for start in range(0, self.world, self.tp):
                yield Axis.TENSOR, tuple(range(start, start + self.tp))
        yield from self._pipelines()
        if self.tp > 1 and self.dp > 1:
            span = self.tp * self.dp
            for start in range(0, self.world, span):
                yield Axis.STAGE, tuple(range(start, start + span))

    def _pipelines(self) -> Iterator[tuple[Axis, tuple[int, ...]]]:
        """Each pipeline's group, then the one that ties its first and last embedding."""
        if self.pp == 1:
            return
        span = self.tp * self.dp
        for start in range(span):
            ranks = tuple(range(start, self.world, span))
            yield Axis.PIPELINE, ranks
            yield Axis.EMBEDDING, (ranks[0], ranks[-1])

    def _line(self, replicas: range, *, stage: int, tp: int) -> tuple[int, ...]:
        return tuple(self.rank(Place(stage=stage, dp=dp, tp=tp)) for dp in replicas)


def default_layout(
    world: int, gpus_per_host: int, *, tp: int | None = None, pp: int | None = None
) -> Layout:
    """A layout for this many ranks: tensor groups inside a host, pipelines across hosts.

    Raises `ValueError` when tp × pp does not divide the number of ranks.
    """
    if tp is None:
        tp = _largest_divisor(gpus_per_host, 8 if world >= 256 else 4)
    if pp is None:
        pp = _largest_divisor(world // tp, 1 if world < 16 else 2 if world < 256 else 4)
    if tp < 1 or pp < 1 or world % (tp * pp):
        raise ValueError(f"{world} ranks cannot be split into tp={tp} × pp={pp} × dp")
    return Layout(tp=tp, pp=pp, dp=world // (tp * pp))


def _largest_divisor(of: int, limit: int) -> int:
    return max(size for size in range(1, limit + 1) if of % size == 0)
