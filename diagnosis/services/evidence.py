"""The records' evidence and placement as the engine wants them."""

from collections.abc import Mapping
from functools import partial

from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement, RankPlace
from diagnosis.core.words import EvidenceKind
from incidents import models, selectors, storage


def evidence_of(incident: models.Incident) -> Mapping[str, tuple[models.Evidence, Evidence]]:
    """Name for the engine → the record and what the engine reads of it.

    Where two files of an incident have one name, the later ones get a folder in front, so that
    findings lead back to the right one.
    """
    found: dict[str, tuple[models.Evidence, Evidence]] = {}
    for record in selectors.evidence_of(incident):
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
    return Placement.of([_as_place(place) for place in selectors.placement_of(attempt)])


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


def _as_place(place: models.RankPlacement) -> RankPlace:
    gpu: str | int | None = place.gpu or None
    return RankPlace(
        rank=place.rank,
        host=place.host.name,
        local_rank=place.local_rank,
        gpu=int(place.gpu) if place.gpu.isdecimal() else gpu,
        gpu_uuid=place.gpu_uuid or None,
        nic=place.nic or None,
        stage=place.stage,
        dp=place.dp,
        tp=place.tp,
        ep=place.ep,
    )
