"""The records' evidence and placement as the engine wants them."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement, RankPlace
from diagnosis.core.topology import HostWiring, Topology
from diagnosis.core.words import EvidenceKind
from incidents import models, selectors, storage


def as_evidence(record: models.Evidence) -> Evidence:
    """What the engine reads of one record. Opening it raises `BlobMissing` where its bytes went."""
    return _as_evidence(record, record.name)


def evidence_of(incident: models.Incident) -> Mapping[str, tuple[models.Evidence, Evidence]]:
    """Name for the engine → the record and what the engine reads of it.

    Where two files of an incident have one name, the later ones get a folder in front, so that
    findings lead back to the right one.
    """
    found: dict[str, tuple[models.Evidence, Evidence]] = {}
    for record in selectors.evidence_in_use(incident):
        name, copy = record.name, 1
        while name in found:
            copy += 1
            name = f"{copy}/{record.name}"
        found[name] = (record, _as_evidence(record, name))
    return found


def placement_of(incident: models.Incident) -> Placement | None:
    """The registered placement of the incident's attempt; None where there is none."""
    if incident.attempt is None:
        return None
    return placement_of_attempt(incident.attempt) or None


def placement_of_attempt(attempt: models.Attempt) -> Placement:
    """Where the ranks of an attempt run; empty where that was not registered."""
    rows = selectors.placement_of(attempt).values_list(*_PLACE)
    return Placement.of(_as_place(*row) for row in rows)


def topology_of(cluster: models.Cluster) -> Topology:
    """Where the cluster's hosts hang in its network, as far as that is registered."""
    wired = cluster.hosts.exclude(pod="", tor="").values_list("name", "pod", "tor")
    return Topology(
        tuple(HostWiring(name, pod or None, (tor,) if tor else ()) for name, pod, tor in wired)
    )


def _as_evidence(record: models.Evidence, name: str) -> Evidence:
    return Evidence(
        name=name,
        open=partial(storage.open_blob, record.blob.sha256, size=record.blob.size),
        size=record.blob.size,
        kind=EvidenceKind(record.declared_kind) if record.declared_kind else None,
        host=record.host or None,
        rank=record.rank,
        job=record.job_label or None,
    )


_PLACE = (
    "rank", "host__name", "local_rank", "gpu", "gpu_uuid", "nic", "stage", "dp", "tp", "ep"
)  # fmt: skip


def _as_place(
    rank: int, host: str, local_rank: int | None, gpu: str, gpu_uuid: str, nic: str, *layout: Any
) -> RankPlace:
    stage, dp, tp, ep = layout
    return RankPlace(
        rank=rank,
        host=host,
        local_rank=local_rank,
        gpu=int(gpu) if gpu.isdecimal() else gpu or None,
        gpu_uuid=gpu_uuid or None,
        nic=nic or None,
        stage=stage,
        dp=dp,
        tp=tp,
        ep=ep,
    )
