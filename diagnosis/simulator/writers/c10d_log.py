"""Lines of ProcessGroupNCCL's watchdog and heartbeat monitor, in the wording of each release.

`[rankN]:` is the global rank; `[Rank r]` inside a work's description is the rank in its group.
"""

from collections.abc import Iterator
from math import prod

from diagnosis.simulator.endings import Fate
from diagnosis.simulator.layout import Communicator
from diagnosis.simulator.run import Run
from diagnosis.simulator.schedule import Call
from diagnosis.simulator.story import Line
from diagnosis.simulator.writers.clock import glog
from diagnosis.simulator.writers.frames import frames_of

_OP_TYPES = {
    "all_reduce": "ALLREDUCE",
    "all_reduce_barrier": "ALLREDUCE",
    "broadcast": "BROADCAST",
    "reduce": "REDUCE",
    "_all_gather_base": "_ALLGATHER_BASE",
    "_reduce_scatter_base": "_REDUCE_SCATTER_BASE",
    "send": "SEND",
    "recv": "RECV",
}

_HINT = (
    "This is most likely caused by incorrect usages of collectives, e.g., wrong sizes used across "
    "ranks, the order of collectives is not same for all ranks or the scheduled collective, for "
    "some reason, didn't run. Additionally, this can be caused by GIL deadlock or other reasons "
    "such as network errors or bugs in the communications library (e.g. NCCL), etc. "
)
_CORRUPT = (
    "Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA "
    "kernels, subsequent GPU operations might run on corrupted/incomplete data."
)
_DOWN = "To avoid data inconsistency, we are taking the entire process down."
_REMOTE = (
    "NCCL error: remote process exited or there was a network error, NCCL version {nccl}\n"
    "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting "
    "prematurely.\nLast error:\n{last}"
)
_LIB = "/opt/venv/lib/python3.11/site-packages/torch/lib"


def watchdog_lines(run: Run, rank: int, last_error: str = "") -> Iterator[Line]:
    """What the rank's process group says as the job ends; nothing for one that never notices."""
    ending = run.endings[rank]
    voice = _Voice(run, rank)
    if ending.fate is Fate.TIMED_OUT:
        yield from voice.timed_out(ending.at)
    elif ending.fate is Fate.SIGNALLED:
        yield from voice.signalled(ending.at)
    elif ending.fate is Fate.REMOTE_ERROR:
        yield from voice.remote_error(ending.at, last_error)


class _Voice:
    def __init__(self, run: Run, rank: int) -> None:
        self.run, self.rank, self.job = run, rank, run.job
        self.release = run.job.release
        self.host = run.job.cluster.host_of(rank)
        self.program = run.timeline.programs[rank]

    def timed_out(self, at: float) -> Iterator[Line]:
        index = self.run.timeline.first_open(self.rank)
        if index is None:
            return
        call = self.program.calls[index]
        group = self.job.communicator_of(self.rank, call)
        local = f"[Rank {group.ranks.index(self.rank)}]"
        caught = f"{local} Watchdog caught collective operation timeout: {self._work(index, at)}"
        yield self._line(at, "timeout", caught)
        yield self._line(at + 1e-4, "status", self._status(group, index, at))
        yield self._line(at + 2e-4, "trace", self._trace(call))
        yield self._line(at + 0.011, "signal", self._dump_signal(group, at, self.rank))
        yield from self._dumping(at + 0.012)
        yield self._line(at + 1.3, "corrupt", f"{local} {_CORRUPT}")
        yield self._line(at + 1.3001, "down", f"{local} {_DOWN}")
        yield from self._terminated(at + 1.3004, group, caught, "checkTimeout")

    def signalled(self, at: float) -> Iterator[Line]:
        default = self.job.layout.communicators[0]
        text = "Observed flight recorder dump signal from another rank via TCPStore."
        yield self._line(at, "observed", f"{self._prefix(default)} {text}")
        sender = next(iter(self.run.ranks_that(Fate.TIMED_OUT, Fate.REMOTE_ERROR)), 0)
        yield self._line(at + 1e-4, "signal", self._dump_signal(default, at, sender))
        yield from self._dumping(at + 2e-4)

    def remote_error(self, at: float, last_error: str) -> Iterator[Line]:
        index = self.run.timeline.first_open(self.rank)
        if index is None:
            return
        group = self.job.communicator_of(self.rank, self.program.calls[index])
        local = f"[Rank {group.ranks.index(self.rank)}]"
        error = _REMOTE.format(nccl=self.release.nccl, last=last_error)
        yield self._line(at + 0.004, "signal", self._dump_signal(group, at, self.rank))
        yield from self._dumping(at + 0.005)
        yield self._line(at + 1.3, "corrupt", f"{local} {_CORRUPT}")
        yield self._line(at + 1.3001, "down", f"{local} {_DOWN}")
        yield from self._terminated(at + 1.3004, group, error, "checkForNCCLErrorsInternal")

    def _dumping(self, at: float) -> Iterator[Line]:
        if self.run.endings[self.rank].dump_at is None:
            return
        default = self.job.layout.communicators[0]
        stacks = int(self.job.options.stacks)
        text = f"ProcessGroupNCCL preparing to dump debug info. Include stack trace: {stacks}"
        yield self._line(at, "dump", f"{self._prefix(default)} {text}")

    def _terminated(
        self, at: float, group: Communicator, what: str, function: str
    ) -> Iterator[Line]:
        text = f"Process group watchdog thread terminated with exception: {what}"
        base = 0x7F0000000000 + 0x1000 * int(self.job.rng("load", self.rank).integers(2**20))
        yield self._line(
            at, "end", f"{self._prefix(group)} {text}\n{_native_stack(function, base)}"
        )

    def _work(self, index: int, at: float) -> str:
        call, timeline = self.program.calls[index], self.run.timeline
        timeout = round(self.job.options.timeout_s * 1e3)
        ran = round((at - timeline.enqueued[self.rank][index]) * 1e3)
        ran += int(self.job.rng("late", self.rank).integers(1, 95))
        return (
            f"WorkNCCL(SeqNum={self.program.sequence(index)}, OpType={_OP_TYPES[call.op]}, "
            f"NumelIn={_numel(call.input_sizes)}, NumelOut={_numel(call.output_sizes)}, "
            f"Timeout(ms)={timeout}) ran for {ran} milliseconds before timing out."
        )

    def _status(self, group: Communicator, index: int, at: float) -> str:
        work = self.program.sequence(index)
        enqueued, completed = self._counts(group, at)
        if self.release.says_failure:
            return (
                f"{self._prefix(group)}  failure detected by watchdog at work sequence id: {work} "
                f"PG status: last enqueued work: {enqueued}, last completed work: {completed}"
            )
        return (
            f"{self._prefix(group)} Exception (either an error or timeout) detected by watchdog at "
            f"work: {work}, last enqueued NCCL work: {enqueued}, "
            f"last completed NCCL work: {completed}."
        )

    def _trace(self, call: Call) -> str:
        from_recorder = self.job.options.stacks and self.release.says_failure
        if not from_recorder:
            return (
                "Stack trace of the failed collective not found, potentially because "
                "FlightRecorder is disabled. You can enable it by setting "
                "TORCH_NCCL_TRACE_BUFFER_SIZE to a non-zero value."
            )
        frames = frames_of(call)
        rows = [f"#{n} {f['name']} from {f['filename']}:{f['line']}" for n, f in enumerate(frames)]
        return "Stack trace of the failed collective: \n" + "\n".join(rows)

    def _dump_signal(self, group: Communicator, at: float, sender: int) -> str:
        enqueued, completed = self._counts(group, at)
        local = sender == self.rank
        whose = "this local rank" if local else f" rank {sender}"
        received = f"Received a dump signal due to a collective timeout from {whose}"
        return (
            f"{self._prefix(group)} {received} and we will try our best to dump the debug info. "
            f"Last enqueued NCCL work: {enqueued}, last completed NCCL work: {completed}.{_HINT}"
        )

    def _counts(self, group: Communicator, at: float) -> tuple[int, int]:
        """The group's last enqueued and last completed numbers on this rank, -1 where none."""
        enqueued = completed = -1
        done = self.run.timeline.completed[self.rank]
        for index, time in enumerate(self.run.timeline.enqueued[self.rank]):
            call = self.program.calls[index]
            if time > at or self.job.communicator_of(self.rank, call) is not group:
                continue
            enqueued = self.program.sequence(index)
            if index < len(done) and done[index] <= at:
                completed = enqueued
        return enqueued, completed

    def _prefix(self, group: Communicator) -> str:
        own = group.ranks.index(self.rank)
        described = f"{group.name}({group.description})"
        if not self.release.has_pg_guid:
            return f"[PG {group.name} ({group.description}) Rank {own}]"
        return f"[PG ID {self.job.layout.pg_id(self.rank, group)} PG GUID {described} Rank {own}]"

    def _line(self, at: float, source: str, text: str) -> Line:
        ns = self.job.host_ns(self.host, at)
        where = f"ProcessGroupNCCL.cpp:{self.release.lines[source]}"
        return Line(at, f"[rank{self.rank}]:[E{glog(ns)} {where}] {text}")


def _numel(sizes: tuple[tuple[int, ...], ...]) -> int:
    return sum(prod(size) for size in sizes)


def _native_stack(function: str, base: int) -> str:
    cuda, c10 = f"{_LIB}/libtorch_cuda.so", f"{_LIB}/libc10.so"
    calls = (
        ("c10::Error::Error(c10::SourceLocation, std::string) + 0x96", 0x6C1B6, c10),
        ("c10d::ProcessGroupNCCL::watchdogHandler() + 0xc80", 0x24277A0, cuda),
        ("c10d::ProcessGroupNCCL::ncclCommWatchdog() + 0x14d", 0x2428EAD, cuda),
        ("<unknown function> + 0xdbbf4", 0x23EFBF4, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"),
        ("<unknown function> + 0x94ac3", 0xD0F1AC3, "/usr/lib/x86_64-linux-gnu/libc.so.6"),
        ("clone + 0x44", 0xD182A04, "/usr/lib/x86_64-linux-gnu/libc.so.6"),
    )
    rows = [
        f"frame #{n}: {what} ({base + at:#x} in {lib})" for n, (what, at, lib) in enumerate(calls)
    ]
    source = "/pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp"
    line = 670 if function == "checkTimeout" else 2363
    raised = f"Exception raised from {function} at {source}:{line} (most recent call first):"
    return "\n".join((raised, *rows, ""))
