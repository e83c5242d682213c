"""From Kubernetes pods to registrations, one a training job."""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from aegis_register.api import Place, Registration, RegistrationError, add_arguments, run
from aegis_register.pods import Pod, by_job, read_pods

HELP = """\
Registers the training jobs among Kubernetes pods with Aegis: each job, its attempt and which rank
runs where. Call it when the pods have their nodes, and again at the end to note how it ended.

  register-from-kubernetes -n team-a -l training.kubeflow.org/job-name=llama
                                          asks kubectl
  register-from-kubernetes --pods FILE    takes `kubectl get pods -o json` from a file or -

Jobs of JobSet, Kubeflow's training operator and trainer, Volcano, LeaderWorkerSet and indexed Jobs
are known by their labels. Pods are put in order by PET_NODE_RANK, NODE_RANK or RANK where a pod has
them in its environment, else by the index in its labels; each has one rank a GPU, or as many as
PET_NPROC_PER_NODE says. `gpu` counts from 0 inside each pod: the node's own numbers are not told.
"""


def registration_of(
    job: str,
    pods: Sequence[Pod],
    *,
    cluster: str = "",
    ranks_per_pod: int | None = None,
    attempt: int | None = None,
    owner_label: str = "",
) -> Registration:
    """What Aegis is told of one job's pods, given in order.

    Raises `RegistrationError` where a pod has no node yet or does not tell its ranks.
    """
    waiting = [pod.name for pod in pods if not pod.node]
    if waiting:
        raise RegistrationError(f"{job}: {len(waiting)} of {len(pods)} pods have no node yet")
    outcome = _outcome(pods)
    given = {"external_id": job, "source": "kubernetes", "cluster": cluster}
    given.update(name=job.split("/", 1)[1], owner=pods[0].labels.get(owner_label, ""))
    restarts = pods[0].restarts
    number = attempt if attempt is not None else None if restarts is None else restarts + 1
    return Registration(
        job={name: value for name, value in given.items() if value},
        placement=_placement(job, pods, ranks_per_pod),
        attempt=number,
        started_at=min((pod.started_at for pod in pods if pod.started_at), default=None),
        outcome=outcome,
        ended_at=max((p.ended_at for p in pods if p.ended_at), default=None) if outcome else None,
        key=_key(job, pods),
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pods", metavar="FILE", help="output of kubectl; - reads stdin")
    parser.add_argument("-n", "--namespace", help="handed to kubectl")
    parser.add_argument("-l", "--selector", help="handed to kubectl")
    parser.add_argument("--ranks-per-pod", type=int, metavar="N")
    parser.add_argument("--attempt", type=int, help="the attempt's number, from 1")
    parser.add_argument("--owner-label", default="", help="the label that names a job's owner")
    add_arguments(parser)
    arguments = parser.parse_args()
    try:
        jobs = by_job(read_pods(_pods(arguments)))
        if not jobs:
            raise RegistrationError("none of the pods belongs to a training job")
        return run(arguments, [_registration(job, pods, arguments) for job, pods in jobs.items()])
    except (RegistrationError, OSError) as error:
        sys.stderr.write(f"register-from-kubernetes: {error}\n")
        return 1


def _registration(job: str, pods: Sequence[Pod], arguments: argparse.Namespace) -> Registration:
    return registration_of(
        job,
        pods,
        cluster=arguments.cluster,
        ranks_per_pod=arguments.ranks_per_pod,
        attempt=arguments.attempt,
        owner_label=arguments.owner_label,
    )


def _pods(arguments: argparse.Namespace) -> str:
    if arguments.pods:
        return sys.stdin.read() if arguments.pods == "-" else Path(arguments.pods).read_text()
    command = ["kubectl", "get", "pods", "-o", "json"]
    command += ["--namespace", arguments.namespace] if arguments.namespace else []
    command += ["--selector", arguments.selector] if arguments.selector else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RegistrationError(f"kubectl: {done.stderr.strip() or done.returncode}")
    return done.stdout


def _placement(job: str, pods: Sequence[Pod], ranks_per_pod: int | None) -> list[Place]:
    places: list[Place] = []
    for pod in pods:
        ranks = ranks_per_pod or pod.ranks
        if not ranks:
            raise RegistrationError(f"{job}: pod {pod.name} has no GPU: give --ranks-per-pod")
        for local in range(ranks):
            place = {"rank": len(places), "host": pod.node, "local_rank": local, "gpu": local}
            places.append(place)
    return places


def _outcome(pods: Sequence[Pod]) -> str | None:
    """How a job ended whose pods have all ended; None while one of them has not."""
    if not all(pod.ended for pod in pods):
        return None
    return "failed" if any(pod.phase == "Failed" for pod in pods) else "completed"


def _key(job: str, pods: Sequence[Pod]) -> str:
    """The same for the same pods, so that calling twice makes one attempt."""
    parts = [job, *sorted(pod.uid for pod in pods)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
