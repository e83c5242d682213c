"""Small real training jobs (torch on the CPU, gloo), in each of which one rank misbehaves.

`python worker.py WORLD FOLDER FAULT...`: one job a fault, all at once, each with a process a rank;
its rendezvous file, dumps, `stderr` and `exit_codes` lie in FOLDER/FAULT. torch is loaded once and
the ranks are forked from there. A thread writes the rank's Flight Recorder dump when a time-out
that all ranks share is over, as a watchdog does, and ends the process only after every rank has
had the time to write its own.
"""

import json
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _dump_fr_trace

CULPRIT, FAULTY_STEP, STEPS = 2, 6, 12
PATIENCE_S, DUMPING_S = 15.0, 5.0
PACE_S, LATE_S = 0.1, 0.3


def main() -> None:
    world, root, faults = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    jobs = {
        fault: [fork_rank(fault, rank, world, root / fault) for rank in range(world)]
        for fault in faults
    }
    for fault, processes in jobs.items():
        codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]
        (root / fault / "exit_codes").write_text(json.dumps(codes))


def fork_rank(fault: str, rank: int, world: int, folder: Path) -> int:
    """Start one rank; its process id. Its words are appended to the job's."""
    folder.mkdir(exist_ok=True)
    process = os.fork()
    if process:
        return process
    with (folder / "stderr").open("ab") as said:
        os.dup2(said.fileno(), sys.stderr.fileno())
    try:
        train(fault, rank, world, folder)
    finally:
        traceback.print_exc()
        os._exit(1)


def train(fault: str, rank: int, world: int, folder: Path) -> None:
    store = dist.FileStore(str(folder / "rendezvous"), world)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world)
    groups = [dist.new_group(list(range(world))) for _ in range(2)]
    if rank == 0:
        store.set("timeout", str(time.time() + PATIENCE_S))
    timeout = float(store.get("timeout"))
    dist.barrier()
    threading.Thread(target=watch, args=(folder, rank, timeout), daemon=True).start()
    try:
        for step in range(STEPS):
            train_step(fault, rank, step, groups)
    except RuntimeError as error:
        sys.stderr.write(f"rank {rank}: {error}\n")  # a peer went away: the watchdog goes on
    time.sleep(10 * PATIENCE_S)


def train_step(fault: str, rank: int, step: int, groups: list[dist.ProcessGroup]) -> None:
    odd = rank == CULPRIT and step == FAULTY_STEP
    gradients = torch.ones(64, 32)
    time.sleep(PACE_S)
    if rank == CULPRIT and fault == "straggle":
        time.sleep(LATE_S)
    if odd and fault == "hang":
        load_batch()
    if odd and fault == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if odd and fault == "mismatch":
        gradients = torch.ones(64, 32, dtype=torch.float64)
    dist.all_reduce(gradients)
    first, second = groups[::-1] if odd and fault == "order" else groups
    exchange(first)
    exchange(second)


def load_batch() -> None:
    time.sleep(10 * PATIENCE_S)


def exchange(group: dist.ProcessGroup) -> None:
    dist.all_reduce(torch.ones(16), group=group)


def watch(folder: Path, rank: int, timeout: float) -> None:
    time.sleep(max(0.0, timeout - time.time()))
    write_dump(folder, rank)
    time.sleep(max(0.0, timeout + DUMPING_S - time.time()))
    os._exit(0)


def write_dump(folder: Path, rank: int) -> None:
    dump = _dump_fr_trace()
    content = dump if isinstance(dump, bytes) else pickle.dumps(dump, protocol=2)
    (folder / f"comm_lib_trace_rank_{rank}").write_bytes(content)


if __name__ == "__main__":
    main()
