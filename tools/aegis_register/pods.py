"""Pods of training jobs, from `kubectl get pods -o json` (Kubernetes API reference, Pod v1)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from aegis_register.api import RegistrationError

#: Labels that name the job a pod belongs to, the outermost controller first.
_JOB_LABELS = (
    "jobset.sigs.k8s.io/jobset-name",
    "training.kubeflow.org/job-name",
    "volcano.sh/job-name",
    "leaderworkerset.sigs.k8s.io/name",
    "batch.kubernetes.io/job-name",
    "job-name",
)
#: Labels that together give a pod's place among its job's pods; what a pod lacks counts as 0.
_INDEX_LABELS = (
    "leaderworkerset.sigs.k8s.io/group-index",
    "leaderworkerset.sigs.k8s.io/worker-index",
    "jobset.sigs.k8s.io/job-global-index",
    "jobset.sigs.k8s.io/job-index",
    "training.kubeflow.org/replica-index",
    "volcano.sh/task-index",
    "batch.kubernetes.io/job-completion-index",
    "apps.kubernetes.io/pod-index",
)
_REPLICA_TYPE = "training.kubeflow.org/replica-type"
_RESTARTS = "jobset.sigs.k8s.io/restart-attempt"
#: Environment that tells a pod's index; PyTorchJob's RANK counts pods and not processes.
_INDEX_VARIABLES = ("PET_NODE_RANK", "NODE_RANK", "RANK")
_ENDED = {"Succeeded", "Failed"}


@dataclass(frozen=True)
class Pod:
    """What a pod tells of its part in a job.

    `index` sorts the pods of a job, `ranks` is the number of its processes; both are None where
    the pod does not tell. Times are as Kubernetes writes them, ISO 8601 in UTC.
    """

    name: str
    uid: str
    job: str
    index: tuple[int, ...] | None
    node: str
    phase: str
    ranks: int | None
    gpus: int
    restarts: int | None
    created_at: str
    started_at: str | None
    ended_at: str | None
    labels: dict[str, str]

    @property
    def ended(self) -> bool:
        return self.phase in _ENDED


def read_pods(text: str) -> list[Pod]:
    """The pods that belong to a job. Raises `RegistrationError` for what kubectl never prints."""
    try:
        given = json.loads(text)
        items = given["items"] if given.get("kind", "List").endswith("List") else [given]
        pods = [_pod(item) for item in items]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RegistrationError(
            f"this is not what `kubectl get pods -o json` prints: {error!r}"
        ) from error
    return [pod for pod in pods if pod is not None]


def by_job(pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    """Job → its pods by index: of several at one index the newest, helpers without GPU left out."""
    jobs: dict[str, dict[object, Pod]] = {}
    for pod in sorted(pods, key=lambda pod: (not pod.ended, pod.created_at)):
        jobs.setdefault(pod.job, {})[pod.index or pod.uid] = pod
    return {job: _in_order(list(found.values())) for job, found in jobs.items()}


def _in_order(pods: list[Pod]) -> list[Pod]:
    with_gpus = [pod for pod in pods if pod.gpus]
    lost = [pod.name for pod in (with_gpus or pods) if pod.index is None]
    if lost and len(with_gpus or pods) > 1:
        raise RegistrationError(f"pod {lost[0]} does not tell its index among its job's pods")
    return sorted(with_gpus or pods, key=lambda pod: pod.index or ())


def _pod(item: dict[str, Any]) -> Pod | None:
    metadata, spec, status = item["metadata"], item["spec"], item.get("status", {})
    labels: dict[str, str] = metadata.get("labels") or {}
    job = next((labels[label] for label in _JOB_LABELS if label in labels), None)
    if job is None:
        return None
    environment = _environment(spec)
    gpus = _gpus(spec)
    restarts = labels.get(_RESTARTS)
    return Pod(
        name=metadata["name"],
        uid=metadata.get("uid", metadata["name"]),
        job=f"{metadata.get('namespace', 'default')}/{job}",
        index=_index(labels, environment),
        node=spec.get("nodeName", ""),
        phase=status.get("phase", "Unknown"),
        ranks=_whole(environment.get("PET_NPROC_PER_NODE")) or gpus or None,
        gpus=gpus,
        restarts=_whole(restarts),
        created_at=metadata.get("creationTimestamp", ""),
        started_at=status.get("startTime"),
        ended_at=_ended_at(status),
        labels=labels,
    )


def _index(labels: dict[str, str], environment: dict[str, str]) -> tuple[int, ...] | None:
    for variable in _INDEX_VARIABLES:
        told = _whole(environment.get(variable))
        if told is not None:
            return (told,)
    if not any(label in labels for label in _INDEX_LABELS):
        return None
    master_first = 0 if labels.get(_REPLICA_TYPE, "master").lower() == "master" else 1
    return (master_first, *(_whole(labels.get(label)) or 0 for label in _INDEX_LABELS))


def _environment(spec: dict[str, Any]) -> dict[str, str]:
    """Variables with a plain value, the first container's first."""
    found: dict[str, str] = {}
    for container in spec.get("containers", []):
        for variable in container.get("env") or []:
            found.setdefault(variable["name"], variable.get("value", ""))
    return found


def _gpus(spec: dict[str, Any]) -> int:
    limits = [(c.get("resources") or {}).get("limits") or {} for c in spec.get("containers", [])]
    return sum(
        int(amount) for one in limits for name, amount in one.items() if name.endswith("/gpu")
    )


def _ended_at(status: dict[str, Any]) -> str | None:
    states = [one.get("state") or {} for one in status.get("containerStatuses") or []]
    times = [state["terminated"].get("finishedAt") for state in states if "terminated" in state]
    return max(filter(None, times), default=None)


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
