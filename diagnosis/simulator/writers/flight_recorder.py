"""One rank's Flight Recorder dump, in the form of a version and a backend.

NCCL: without timing an unfinished call is `scheduled`, never `started`. Gloo: the state is always
`scheduled`, `retired` is the only mark of completion, sends and receives are counted and not
recorded, and the groups' names and ranks are missing. (torch/csrc/distributed/c10d/FlightRecorder.)
"""

from dataclasses import dataclass
from typing import Any

import orjson

from diagnosis.simulator.layout import Communicator
from diagnosis.simulator.run import Run
from diagnosis.simulator.schedule import Call
from diagnosis.simulator.writers.frames import frames_of
from diagnosis.simulator.writers.torch_pickle import dumps

_WATCHDOG_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class _Moment:
    """How one rank's dump sees time."""

    at: float
    phase: float
    start_ns: int

    def stamp(self, seconds: float) -> int:
        return self.start_ns + round(seconds * 1e9)

    def discovered(self, completed: float) -> tuple[float, bool]:
        """When the watchdog saw the completion, and whether that was before the dump."""
        polls = int((completed - self.phase) / _WATCHDOG_POLL_S) + 1
        seen = self.phase + polls * _WATCHDOG_POLL_S
        return (seen, True) if seen <= self.at else (self.at, False)


def dump_bytes(run: Run, rank: int) -> bytes:
    """The dump file of a rank that left one."""
    dump = dump_of(run, rank)
    return json_bytes(dump) if run.job.options.fr_form == "json" else dumps(dump)


def dump_of(run: Run, rank: int) -> dict[str, Any]:
    """The dump as a dictionary, in the order of keys and with the values of the pickle form."""
    job, options = run.job, run.job.options
    at = run.endings[rank].dump_at
    if at is None:
        raise ValueError(f"rank {rank} left no dump")
    host = job.cluster.host_of(rank)
    moment = _Moment(at, float(job.rng("poll", rank).uniform(0, 0.1)), job.host_ns(host, 0.0))
    records = _Records(run, rank, moment)
    dump: dict[str, Any] = {"version": options.fr_version, "pg_config": records.groups()}
    if job.release.library_key is not None:
        version = "" if options.backend == "gloo" else job.release.nccl
        dump[job.release.library_key] = version
    dump["pg_status"] = records.status()
    dump["entries"] = records.entries()
    return dump


class _Records:
    """What one rank's recorder holds at the moment of the dump."""

    def __init__(self, run: Run, rank: int, moment: _Moment) -> None:
        self.job, self.rank, self.moment = run.job, rank, moment
        self.program = run.timeline.programs[rank]
        self.enqueued = run.timeline.enqueued[rank]
        self.arrived = run.timeline.arrived[rank]
        self.completed = run.timeline.completed[rank]
        self.gloo = run.job.options.backend == "gloo"
        self.count = sum(time <= moment.at for time in self.enqueued)
        self.done = sum(time <= moment.at for time in self.completed)
        self.thread = str(139_000_000_000_000 + int(run.job.rng("thread", rank).integers(2**40)))

    def groups(self) -> dict[str, Any]:
        """`pg_config`: the rank's groups whose communicator was built, by name."""
        if self.gloo:
            return {"": {"name": "", "desc": "", "ranks": "[]"}}
        used = {self._group(call).index for call in self.program.calls[: self.count]}
        groups = {self.job.layout.communicators[index] for index in used}
        return {
            group.name: {
                "name": group.name,
                "desc": group.description,
                "ranks": "[" + ", ".join(map(str, group.ranks)) + "]",
            }
            for group in sorted(groups, key=lambda group: group.name)
        }

    def status(self) -> dict[str, Any]:
        """`pg_status`: the last numbers enqueued, started and completed, by the rank's own id."""
        last: dict[int, list[int]] = {}
        timing = self.job.options.timing and not self.gloo
        for index in range(self.count):
            number = self.program.sequence(index)
            row = last.setdefault(self._id(self.program.calls[index]), [-1, -1, -1])
            row[0] = number
            if timing and self._started(index):
                row[1] = number
            if index < self.done:
                row[2] = number
        return {
            str(pg_id): {
                "last_enqueued_collective": row[0],
                "last_started_collective": row[1],
                "last_completed_collective": row[2],
            }
            for pg_id, row in sorted(last.items(), key=lambda item: str(item[0]))
        }

    def entries(self) -> list[dict[str, Any]]:
        options = self.job.options
        recorded = [
            index
            for index in range(self.count)
            if not (self.gloo and self.program.calls[index].peer)
        ]
        numbered = list(enumerate(recorded))[-options.ring :]
        if options.only_active:
            numbered = [(record, index) for record, index in numbered if index >= self.done]
        return [self._entry(record, index) for record, index in numbered]

    def _entry(self, record: int, index: int) -> dict[str, Any]:
        call, options = self.program.calls[index], self.job.options
        group = self._group(call)
        collectives, p2p = self.program.counters[index]
        entry: dict[str, Any] = {"frames": frames_of(call)} if options.stacks else {}
        entry |= {
            "record_id": record,
            "pg_id": self._id(call),
            "process_group": (group.name, group.description),
        }
        if self.job.release.has_threads:
            entry |= {"thread_name": self._thread(call), "thread_id": self.thread}
        entry |= {
            "collective_seq_id": collectives,
            "p2p_seq_id": p2p,
            "op_id": collectives + p2p,
            "profiling_name": self._name(call, group),
            "time_created_ns": self.moment.stamp(self.enqueued[index]),
        }
        if options.timing and not self.gloo and index < self.done:
            entry["duration_ms"] = round((self.completed[index] - self.arrived[index]) * 1e3, 4)
        entry |= self._shape(call)
        entry |= self._state(index)
        entry |= {"timeout_ms": round(options.timeout_s * 1e3), "is_p2p": bool(call.peer)}
        return entry

    def _shape(self, call: Call) -> dict[str, Any]:
        if self.gloo and call.op == "all_reduce_barrier":
            return {"input_sizes": [], "input_dtypes": [], "output_sizes": [], "output_dtypes": []}
        output = call.output_sizes
        if self.gloo and call.op == "_reduce_scatter_base":
            output = call.input_sizes
        return {
            "input_sizes": [list(size) for size in call.input_sizes],
            "input_dtypes": [call.dtype] * len(call.input_sizes),
            "output_sizes": [list(size) for size in output],
            "output_dtypes": [call.dtype] * len(output),
        }

    def _state(self, index: int) -> dict[str, Any]:
        if self.gloo:
            return _state("scheduled", None, None, retired=index < self.done)
        started = None
        if self.job.options.timing and self._started(index):
            started = self.moment.stamp(min(self.moment.at, self.arrived[index] + 4e-5))
        if index >= self.done:
            return _state("started" if started else "scheduled", started, None, retired=False)
        seen, retired = self.moment.discovered(self.completed[index])
        return _state("completed", started, self.moment.stamp(seen), retired=retired)

    def _started(self, index: int) -> bool:
        return index < len(self.arrived) and self.arrived[index] <= self.moment.at

    def _name(self, call: Call, group: Communicator) -> str:
        if call.peer:
            own = group.ranks.index(self.rank)
            arrow = "->" if call.op == "send" else "<-"
            return f"{self.job.options.backend}:{call.op} {own}{arrow}{own + call.peer}"
        op = call.op
        if self.gloo:
            op = {"all_reduce_barrier": "barrier", "_reduce_scatter_base": "all_reduce"}.get(op, op)
        return f"{self.job.options.backend}:{op}"

    def _thread(self, call: Call) -> str:
        if self.gloo:
            return "python"
        if call.phase == "backward" and not call.peer:
            return f"pt_autograd_{self.job.cluster.local_rank(self.rank)}"
        return "pt_main_thread"

    def _group(self, call: Call) -> Communicator:
        return self.job.communicator_of(self.rank, call)

    def _id(self, call: Call) -> int:
        return self.job.layout.pg_id(self.rank, self._group(call))


def _state(
    state: str, started: int | None, completed: int | None, *, retired: bool
) -> dict[str, Any]:
    return {
        "state": state,
        "time_discovered_started_ns": started,
        "time_discovered_completed_ns": completed,
        "retired": retired,
    }


def json_bytes(dump: dict[str, Any]) -> bytes:
    """The JSON form of the same dump: no frames, 0 for a missing time, counters as text."""
    shape = {name: value for name, value in dump.items() if name != "entries"}
    shape["pg_status"] = {
        pg_id: {name: str(number) for name, number in row.items()}
        for pg_id, row in dump["pg_status"].items()
    }
    if dump["entries"]:
        shape["entries"] = [_json_entry(entry) for entry in dump["entries"]]
    return orjson.dumps(shape, option=orjson.OPT_SORT_KEYS)


def _json_entry(entry: dict[str, Any]) -> dict[str, Any]:
    shape = {name: value for name, value in entry.items() if name != "frames"}
    shape["process_group"] = list(entry["process_group"])
    for name in ("time_discovered_started_ns", "time_discovered_completed_ns"):
        shape[name] = entry[name] or 0
    return shape
