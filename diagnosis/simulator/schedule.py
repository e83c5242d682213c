"""The calls of a rank in a training step, in order: forward, backward, optimiser, checkpoint.

Names, sizes and dtypes are those that Flight Recorder shows for Megatron-LM with sequence
parallelism and a distributed optimiser, and for plain DDP where there is one axis only.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from diagnosis.simulator.layout import Axis, Layout

SEQUENCE, HIDDEN, LAYERS, MICROBATCHES = 4096, 5120, 2, 2
_BF16, _FLOAT = "BFloat16", "Float"


@dataclass(frozen=True, slots=True)
class Call:
    """One communication call.

    `peer` is the pipeline neighbour of a send (+1 or -1, from the sender's view) or receive.
    `host_ms` is the CPU's time before it enqueues the call, `compute_ms` the GPU's work queued in
    front of it, `wire_ms` its own time once all members are there. The host waits for a `sync` call
    before it goes on.
    """

    axis: Axis
    op: str
    input_sizes: tuple[tuple[int, ...], ...]
    output_sizes: tuple[tuple[int, ...], ...]
    dtype: str
    phase: str
    host_ms: float = 0.2
    compute_ms: float = 0.5
    wire_ms: float = 0.4
    peer: int = 0
    sync: bool = False

    @property
    def signature(self) -> tuple[object, ...]:
        """What all members of a communicator must agree on at one sequence number."""
        return (self.op, self.input_sizes, self.output_sizes, self.dtype)


@dataclass(frozen=True)
class Program:
    """A rank's calls over all steps. `starts[s]` is the index of the first call of step s."""

    calls: tuple[Call, ...]
    starts: tuple[int, ...]

    @cached_property
    def counters(self) -> tuple[tuple[int, int], ...]:
        """At each call, how many collectives and p2p calls its axis has had, it included.

        These are Flight Recorder's `collective_seq_id` and `p2p_seq_id`; `op_id` is their sum.
        """
        seen: dict[Axis, tuple[int, int]] = {}
        counted = []
        for call in self.calls:
            collectives, p2p = seen.get(call.axis, (0, 0))
            now = (collectives, p2p + 1) if call.peer else (collectives + 1, p2p)
            seen[call.axis] = now
            counted.append(now)
        return tuple(counted)

    def sequence(self, index: int) -> int:
        """The call's own number, from 1, among the calls of its kind in its communicator."""
        return self.counters[index][1 if self.calls[index].peer else 0]

    @cached_property
    def pairing(self) -> tuple[int, ...]:
        """For point-to-point calls the number among those of one direction to one neighbour."""
        seen: dict[tuple[str, int], int] = {}
        numbers = []
        for call in self.calls:
            way = (call.op, call.peer)
            seen[way] = seen.get(way, 0) + 1
            numbers.append(seen[way])
        return tuple(numbers)

    def step_of(self, index: int) -> int:
        return sum(start <= index for start in self.starts) - 1

    def stop_of(self, step: int) -> int:
        """The index after the step's last call, a checkpoint that follows it included."""
        following = step + 1
        return self.starts[following] if following < len(self.starts) else len(self.calls)

    def with_call(self, index: int, call: Call) -> "Program":
        return replace(self, calls=(*self.calls[:index], call, *self.calls[index + 1 :]))

    def without_call(self, index: int) -> "Program":
        starts = tuple(start - (start > index) for start in self.starts)
        return Program((*self.calls[:index], *self.calls[index + 1 :]), starts)

    def swapped(self, index: int) -> "Program":
        """The same calls with this one and the next in opposite order."""
        calls = list(self.calls)
        calls[index], calls[index + 1] = calls[index + 1], calls[index]
        return replace(self, calls=tuple(calls))


def programs(layout: Layout, *, steps: int, checkpoint_every: int) -> tuple[Program, ...]:
    """One program per pipeline stage; all ranks of a stage make the same calls."""
    return tuple(_program(layout, stage, steps, checkpoint_every) for stage in range(layout.pp))


def _program(layout: Layout, stage: int, steps: int, checkpoint_every: int) -> Program:
    calls = list(_setup(layout))
    starts = []
    step = tuple(_ddp_step() if layout.is_plain else _step(layout, stage))
    for number in range(1, steps + 1):
        starts.append(len(calls))
        calls.extend(step)
        if number % checkpoint_every == 0:
            calls.extend(_checkpoint())
    return Program(tuple(calls), tuple(starts))


def _setup(layout: Layout) -> Iterator[Call]:
    if layout.dp > 1:
        weights = (HIDDEN, HIDDEN)
        axis = Axis.WORLD if layout.is_plain else Axis.DATA
        yield _collective(axis, "broadcast", size=weights, dtype=_BF16, phase="setup", wire=4.0)
    yield _barrier("setup")


def _step(layout: Layout, stage: int) -> Iterator[Call]:
    first = True
    for _ in range(MICROBATCHES):
        for call in _forward(layout, stage):
            yield replace(call, host_ms=12.0) if first else call
            first = False
    for _ in range(MICROBATCHES):
        yield from _backward(layout, stage)
    yield from _optimizer(layout, stage)


def _forward(layout: Layout, stage: int) -> Iterator[Call]:
    if stage > 0:
        yield _p2p("recv", -1, "forward")
    yield from _layers(layout, "forward", compute=9.0)
    if stage < layout.pp - 1:
        yield _p2p("send", +1, "forward")


def _backward(layout: Layout, stage: int) -> Iterator[Call]:
    if stage < layout.pp - 1:
        yield _p2p("recv", +1, "backward")
    yield from _layers(layout, "backward", compute=18.0)
    if stage > 0:
        yield _p2p("send", -1, "backward")


def _layers(layout: Layout, phase: str, *, compute: float) -> Iterator[Call]:
    if layout.tp == 1:
        return
    whole, shard = (SEQUENCE, 1, HIDDEN), (SEQUENCE // layout.tp, 1, HIDDEN)
    gather = _collective(
        Axis.TENSOR,
        "_all_gather_base",
        size=shard,
        output=whole,
        dtype=_BF16,
        phase=phase,
        compute=compute,
    )
    scatter = replace(
        gather,
        op="_reduce_scatter_base",
        input_sizes=gather.output_sizes,
        output_sizes=gather.input_sizes,
    )
    for _ in range(LAYERS):
        yield gather
        yield scatter


def _optimizer(layout: Layout, stage: int) -> Iterator[Call]:
    bucket = LAYERS * 12 * HIDDEN * HIDDEN // layout.tp
    shard = -(-bucket // layout.dp)
    whole = shard * layout.dp
    if layout.tp > 1 and layout.dp > 1:
        yield _collective(Axis.STAGE, "all_reduce", size=(120,))
    if layout.dp > 1:
        yield _collective(
            Axis.DATA,
            "_reduce_scatter_base",
            size=(whole,),
            output=(shard,),
            compute=6.0,
            wire=22.0,
        )
    if layout.pp > 1 and stage in {0, layout.pp - 1}:
        rows = -(-51200 // layout.tp)
        yield _collective(Axis.EMBEDDING, "all_reduce", size=(rows, HIDDEN), wire=5.0)
    yield _collective(Axis.WORLD, "all_reduce", size=(1,), sync=True)
    if layout.dp > 1:
        yield _collective(
            Axis.DATA,
            "_all_gather_base",
            size=(shard,),
            output=(whole,),
            dtype=_BF16,
            compute=8.0,
            wire=12.0,
        )


def _ddp_step() -> Iterator[Call]:
    for number, numel in enumerate((26_215_400, 26_214_400, 13_107_200)):
        bucket = _collective(
            Axis.WORLD, "all_reduce", size=(numel,), phase="backward", compute=30.0, wire=9.0
        )
        yield replace(bucket, host_ms=12.0) if number == 0 else bucket
    yield _collective(Axis.WORLD, "all_reduce", size=(1,), sync=True)


def _checkpoint() -> Iterator[Call]:
    yield replace(_barrier("checkpoint"), host_ms=4.0)
    yield replace(_barrier("checkpoint"), host_ms=900.0)


def _barrier(phase: str) -> Call:
    return Call(
        Axis.WORLD, "all_reduce_barrier", ((1,),), ((1,),), _FLOAT, phase, wire_ms=0.1, sync=True
    )


def _p2p(op: str, peer: int, phase: str) -> Call:
    sizes = ((SEQUENCE, 1, HIDDEN),)
    return Call(Axis.PIPELINE, op, sizes, sizes, _BF16, phase, wire_ms=0.9, peer=peer)


def _collective(
    axis: Axis,
    op: str,
    *,
    size: tuple[int, ...],
    output: tuple[int, ...] | None = None,
    dtype: str = _FLOAT,
    phase: str = "optimizer",
    compute: float = 0.5,
    wire: float = 0.4,
    sync: bool = False,
) -> Call:
    return Call(
        axis=axis,
        op=op,
        input_sizes=(size,),
        output_sizes=(output or size,),
        dtype=dtype,
        phase=phase,
        compute_ms=compute,
        wire_ms=wire,
        sync=sync,
    )
