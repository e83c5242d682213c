"""From what Slurm prints to a registration (man scontrol, squeue, srun)."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from aegis_register.api import Place, Registration, RegistrationError, add_arguments, run
from aegis_register.hostlist import HostlistError, expand
from aegis_register.scontrol import SlurmJob, read_scontrol

HELP = """\
Registers a Slurm job with Aegis: the job, its attempt (Restarts + 1) and which rank runs where.
Call it when the job has its nodes (in the batch script, or PrologSlurmctld), and again at its end
(EpilogSlurmctld) to note how it ended.

  register-from-slurm 4711                       asks scontrol
  register-from-slurm --scontrol FILE            takes `scontrol show job -d 4711` from a file or -
  register-from-slurm --nodes 'gpu[001-004]' --ranks-per-node 8 4711
                                                 as squeue (%N) or SLURM_JOB_NODELIST print them

Ranks are laid out in blocks, host by host in the order of the node list, one a GPU. Where a
launcher orders them in another way, give the truth: `srun -l hostname` prints `rank: host` lines,
which --srun FILE takes.
"""
_OUTCOMES = {
    "COMPLETED": "completed",
    "CANCELLED": "cancelled",
    "FAILED": "failed",
    "TIMEOUT": "failed",
    "NODE_FAIL": "failed",
    "OUT_OF_MEMORY": "failed",
    "BOOT_FAIL": "failed",
    "DEADLINE": "failed",
    "PREEMPTED": "failed",
}
_SRUN_LINE = re.compile(r"\s*(\d+):\s*(\S+)\s*")
_TASKS = re.compile(r"(\d+)(?:\(x(\d+)\))?")


def read_srun(text: str) -> dict[int, str]:
    """Rank → host from the output of `srun -l hostname`. Raises `RegistrationError`."""
    hosts: dict[int, str] = {}
    for line in filter(str.strip, text.splitlines()):
        found = _SRUN_LINE.fullmatch(line)
        if found is None:
            raise RegistrationError(f"{line[:80]!r} is no 'rank: host' line of srun -l")
        if hosts.setdefault(int(found[1]), found[2]) != found[2]:
            raise RegistrationError(f"rank {found[1]} stands on two hosts")
    return hosts


def tasks_per_node(text: str, hosts: int) -> list[int]:
    """One count a host, from `8` or from `8(x3),4` as SLURM_TASKS_PER_NODE has it.

    Raises `RegistrationError`.
    """
    counts: list[int] = []
    for part in text.split(","):
        found = _TASKS.fullmatch(part.strip())
        if found is None or int(found[2] or 1) > hosts:
            raise RegistrationError(f"{text!r} is no number of ranks per node for {hosts} nodes")
        counts += [int(found[1])] * int(found[2] or 1)
    counts = counts * hosts if len(counts) == 1 else counts
    if len(counts) != hosts:
        raise RegistrationError(f"{text!r} speaks of {len(counts)} nodes, the job has {hosts}")
    return counts


def in_blocks(
    hosts: Sequence[str], counts: Sequence[int], gpus_of: dict[str, list[int]]
) -> list[Place]:
    """Ranks host by host, one a GPU; a host's GPUs are 0 to n-1 where Slurm does not tell them."""
    places: list[Place] = []
    for number, host in enumerate(hosts):
        for local in range(counts[number]):
            places.append(_place(len(places), host, local, gpus_of))
    return places


def as_srun_says(hosts: dict[int, str], gpus_of: dict[str, list[int]]) -> list[Place]:
    """Ranks on the hosts that srun named, their local ranks counted up in order."""
    places: list[Place] = []
    seen: dict[str, int] = {}
    for rank in sorted(hosts):
        local = seen.get(hosts[rank], 0)
        seen[hosts[rank]] = local + 1
        places.append(_place(rank, hosts[rank], local, gpus_of))
    return places


def registration_of(
    job: SlurmJob, *, cluster: str = "", ranks_per_node: str = "", srun: str | None = None
) -> Registration:
    """What Aegis is told. Raises `RegistrationError` where the placement cannot be known."""
    if srun is not None:
        placement = as_srun_says(read_srun(srun), job.gpus_of)
    else:
        placement = _placement_in_blocks(job, ranks_per_node)
    outcome = _OUTCOMES.get(job.state)
    given = {"external_id": job.job_id, "source": "slurm", "cluster": cluster}
    given.update(name=job.name, owner=job.user)
    return Registration(
        job={name: value for name, value in given.items() if value},
        placement=placement,
        attempt=job.restarts + 1,
        started_at=job.started_at,
        outcome=outcome,
        ended_at=job.ended_at if outcome else None,
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("job", nargs="?", help="the job's id")
    parser.add_argument("--scontrol", metavar="FILE", help="output of scontrol; - reads stdin")
    parser.add_argument("--nodes", metavar="LIST", help="the nodes in hostlist syntax")
    parser.add_argument(
        "--ranks-per-node", default="", metavar="N", help="8, or 8(x3),4 where nodes differ"
    )
    parser.add_argument("--srun", metavar="FILE", help="output of srun -l hostname; - reads stdin")
    parser.add_argument("--attempt", type=int, help="the attempt's number, from 1")
    add_arguments(parser)
    arguments = parser.parse_args()
    try:
        return run(arguments, [_registration(arguments)])
    except (RegistrationError, HostlistError, OSError) as error:
        sys.stderr.write(f"register-from-slurm: {error}\n")
        return 1


def _registration(arguments: argparse.Namespace) -> Registration:
    if arguments.nodes:
        if not arguments.job:
            raise RegistrationError("--nodes needs the job's id")
        restarts = (arguments.attempt or 1) - 1
        job = SlurmJob(arguments.job, node_list=arguments.nodes, restarts=restarts)
    else:
        job = read_scontrol(_scontrol(arguments))
    return registration_of(
        job,
        cluster=arguments.cluster,
        ranks_per_node=arguments.ranks_per_node,
        srun=_text(arguments.srun) if arguments.srun else None,
    )


def _scontrol(arguments: argparse.Namespace) -> str:
    if arguments.scontrol:
        return _text(arguments.scontrol)
    if not arguments.job or not re.fullmatch(r"[\w+.]+", arguments.job):
        raise RegistrationError("give the job's id, --scontrol or --nodes")
    command = ["scontrol", "show", "job", "-d", arguments.job]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RegistrationError(f"scontrol: {done.stderr.strip() or done.returncode}")
    return done.stdout


def _text(file: str) -> str:
    return sys.stdin.read() if file == "-" else Path(file).read_text()


def _placement_in_blocks(job: SlurmJob, ranks_per_node: str) -> list[Place]:
    if not job.node_list:
        raise RegistrationError(f"job {job.job_id} has no nodes (state {job.state or 'unknown'})")
    hosts = expand(job.node_list)
    if not ranks_per_node and job.gpus_of.keys() >= set(hosts):
        return in_blocks(hosts, [len(job.gpus_of[host]) for host in hosts], job.gpus_of)
    told = ranks_per_node or str(job.ranks_per_node or "")
    if not told:
        raise RegistrationError("how many ranks a node has is not told: give --ranks-per-node")
    return in_blocks(hosts, tasks_per_node(told, len(hosts)), job.gpus_of)


def _place(rank: int, host: str, local: int, gpus_of: dict[str, list[int]]) -> Place:
    gpus = gpus_of.get(host, [])
    gpu = gpus[local] if local < len(gpus) else local
    return {"rank": rank, "host": host, "local_rank": local, "gpu": gpu}
