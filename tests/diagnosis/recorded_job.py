"""A small job that runs calls on ranks and leaves Flight Recorder dumps, for tests of both sides.

Every rank runs a list of `Call`s one after another. A call ends when all members of its group have
arrived at it with the same signature. What a dump looks like (gloo or NCCL, timing, ring size, only
active operations) is chosen when it is taken, as of any moment.
"""

import io
import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from diagnosis.core.collectives import RankDump
from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement, RankPlace
from diagnosis.readers.flight_recorder import read_dumps

START_NS = 1_700_000_000_000_000_000
FOREVER_MS = 1e12
FRAMES = [
    {"name": "all_reduce", "filename": "/venv/site-packages/torch/distributed/c10d.py", "line": 9},
    {"name": "train_step", "filename": "/job/train.py", "line": 42},
]


@dataclass(frozen=True)
class Call:
    """One collective of a rank's program; `own_ms` is the rank's own time before it."""

    group: str
    op: str = "all_reduce"
    size: tuple[int, ...] = (64, 32)
    dtype: str = "Float"
    own_ms: float = 10.0

    @property
    def signature(self) -> tuple[str, tuple[int, ...], str]:
        return self.op, self.size, self.dtype


@dataclass
class Done:
    """When a call was made and when it ended (ms, `FOREVER_MS` for never)."""

    call: Call
    seq: int
    at: float
    ended: float = FOREVER_MS


@dataclass
class Job:
    """The groups (name → description and ranks) and what every rank did."""

    groups: Mapping[str, tuple[str, tuple[int, ...]]]
    history: dict[int, list[Done]] = field(default_factory=dict)

    @property
    def ranks(self) -> list[int]:
        return sorted({rank for _, ranks in self.groups.values() for rank in ranks})


def data_parallel(world: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """One group of all ranks."""
    return {"0": ("default_pg", tuple(range(world)))}


def tensor_and_data_parallel(world: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Pairs TP_i, and DP_0 and DP_1 over the even and odd ranks."""
    groups = data_parallel(world)
    for pair in range(world // 2):
        groups[str(pair + 1)] = (f"TP_{pair}", (2 * pair, 2 * pair + 1))
    for odd in (0, 1):
        groups[str(world // 2 + 1 + odd)] = (f"DP_{odd}", tuple(range(odd, world, 2)))
    return groups


def steps(world: int, count: int) -> dict[int, list[Call]]:
    """A data-parallel program: two gradients and a loss a step, then a barrier."""
    step = [Call("0"), Call("0", size=(96,)), Call("0", size=(1,))]
    return {rank: [*step * count, Call("0", "barrier", ())] for rank in range(world)}


def tp_dp_steps(world: int, count: int) -> dict[int, list[Call]]:
    """Two TP calls and one DP call a step on every rank."""
    programs = {}
    for rank in range(world):
        tp, dp = str(rank // 2 + 1), str(world // 2 + 1 + rank % 2)
        programs[rank] = [Call(tp, size=(96,)), Call(tp, size=(96,)), Call(dp)] * count
    return programs


def run(
    groups: Mapping[str, tuple[str, tuple[int, ...]]],
    programs: Mapping[int, Sequence[Call]],
    *,
    stuck_in: tuple[str, int] | None = None,
) -> Job:
    """Run the programs until nothing moves; `stuck_in` is a (group, seq) that never completes."""
    job = Job(groups, {rank: [] for rank in programs})
    ready = dict.fromkeys(programs, 0.0)
    waiting: dict[int, Done] = {}
    while _arrive(job, programs, ready, waiting) or _complete(job, ready, waiting, stuck_in):
        pass
    return job


def _arrive(
    job: Job,
    programs: Mapping[int, Sequence[Call]],
    ready: dict[int, float],
    waiting: dict[int, Done],
) -> bool:
    moved = False
    for rank, program in programs.items():
        place = len(job.history[rank])
        if rank in waiting or place >= len(program):
            continue
        call = program[place]
        seq = 1 + sum(done.call.group == call.group for done in job.history[rank])
        done = Done(call, seq, ready[rank] + call.own_ms + 0.2 * ((rank * 7 + place * 3) % 5))
        job.history[rank].append(done)
        waiting[rank] = done
        moved = True
    return moved


def _complete(
    job: Job,
    ready: dict[int, float],
    waiting: dict[int, Done],
    stuck_in: tuple[str, int] | None,
) -> bool:
    for name, (_, members) in job.groups.items():
        inside = [waiting.get(rank) for rank in members]
        calls = [done for done in inside if done is not None and done.call.group == name]
        if len(calls) < len(members) or len({(d.seq, d.call.signature) for d in calls}) > 1:
            continue
        if stuck_in == (name, calls[0].seq):
            continue
        ended = max(done.at for done in calls) + 1.0
        for rank in members:
            waiting.pop(rank).ended = ended
            ready[rank] = ended
        return True
    return False


@dataclass(frozen=True)
class Form:
    """What the recorder wrote."""

    backend: str = "nccl"
    version: str = "2.10"
    timing: bool = False
    ring: int = 2000
    only_active: bool = False
    frames: bool = True
    groups_known: bool = True

    @property
    def gloo(self) -> bool:
        return self.backend == "gloo"


NCCL = Form()
GLOO = Form("gloo", groups_known=False)
FORMS = (NCCL, GLOO, replace(NCCL, timing=True))


def dump(job: Job, rank: int, form: Form = NCCL, at: float = FOREVER_MS / 2) -> dict[str, Any]:
    """The rank's dump as of `at` ms, in the recorder's own shape."""
    names = [name for name, (_, ranks) in job.groups.items() if rank in ranks]
    done = [item for item in job.history[rank] if item.at <= at]
    entries = [_entry(job, names, number, item, form, at) for number, item in enumerate(done)]
    kept = entries[-form.ring :]
    if form.only_active:
        kept = [entry for entry in kept if entry["state"] != "completed"]
    config = {
        name: {"name": name, "desc": job.groups[name][0], "ranks": str(list(job.groups[name][1]))}
        for name in names
    }
    nothing = {"": {"name": "", "desc": "", "ranks": "[]"}}
    return {
        "version": form.version,
        "pg_config": config if form.groups_known else nothing,
        "pg_status": {
            str(pg_id): _status([i for i in done if i.call.group == name], at)
            for pg_id, name in enumerate(names)
        },
        "comm_lib_version": "" if form.gloo else "2.27.5",
        "entries": kept,
    }


def _status(done: Sequence[Done], at: float) -> dict[str, int]:
    over = [item.seq for item in done if item.ended <= at]
    return {
        "last_enqueued_collective": max((item.seq for item in done), default=-1),
        "last_started_collective": -1,
        "last_completed_collective": max(over, default=-1),
    }


def _entry(
    job: Job, names: Sequence[str], number: int, item: Done, form: Form, at: float
) -> dict[str, object]:
    over = item.ended <= at
    call = item.call
    sizes = [list(call.size)] if call.size else []
    entry: dict[str, object] = {
        "record_id": number,
        "pg_id": names.index(call.group),
        "process_group": (call.group, job.groups[call.group][0]),
        "collective_seq_id": item.seq,
        "p2p_seq_id": 0,
        "op_id": item.seq,
        "profiling_name": f"{form.backend}:{call.op}",
        "time_created_ns": START_NS + int(item.at * 1e6),
        "input_sizes": sizes,
        "output_sizes": sizes,
        "input_dtypes": [call.dtype] if sizes else [],
        "output_dtypes": [call.dtype] if sizes else [],
        "state": "completed" if over and not form.gloo else "scheduled",
        "time_discovered_started_ns": None,
        "time_discovered_completed_ns": START_NS + int(item.ended * 1e6) if over else None,
        "retired": over,
        "timeout_ms": 600_000,
        "is_p2p": False,
    }
    if form.timing and not form.gloo:
        entry["state"] = "completed" if over else "started"
        entry["time_discovered_started_ns"] = entry["time_created_ns"]
        if over:
            entry["duration_ms"] = item.ended - item.at
    if form.frames:
        entry["frames"] = FRAMES
    return entry


def evidence(content: object, name: str) -> Evidence:
    """Evidence from bytes, or from a dump that is pickled as PyTorch does it."""
    data = content if isinstance(content, bytes) else pickle.dumps(content, protocol=2)
    return Evidence(name=name, open=lambda: io.BytesIO(data), size=len(data))


def as_json(content: Mapping[str, Any]) -> bytes:
    """The dump as `_dump_fr_trace_json` writes it: no frames, 0 for no time, text counters."""
    entries = [
        {
            key: 0 if value is None else value
            for key, value in entry.items()
            if key not in {"frames", "duration_ms"}
        }
        for entry in content["entries"]
    ]
    status = {
        pg_id: {name: str(value) for name, value in counters.items()}
        for pg_id, counters in content["pg_status"].items()
    }
    head = {"version": content["version"], "pg_config": content["pg_config"], "pg_status": status}
    return json.dumps({**head, "entries": entries} if entries else head).encode()


def dumps(
    job: Job, form: Form = NCCL, *, without: Sequence[int] = (), at: float = FOREVER_MS / 2
) -> list[RankDump]:
    """The dumps of all ranks but some, written and read back."""
    pieces = [
        evidence(dump(job, rank, form, at), f"comm_lib_trace_rank_{rank}")
        for rank in job.ranks
        if rank not in without
    ]
    read, skipped = read_dumps(pieces)
    assert not skipped
    return read


def placed(world: int, per_host: int = 4) -> Placement:
    """Ranks in order over hosts node-001, node-002, …"""
    return Placement.of(
        RankPlace(rank, f"node-{rank // per_host + 1:03}", rank % per_host, rank % per_host)
        for rank in range(world)
    )
