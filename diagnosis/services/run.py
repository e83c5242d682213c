"""One run of the diagnosis, from claiming its row to storing its answer."""

import logging
import os
import socket
import uuid
from collections.abc import Iterable, Mapping
from typing import Protocol

from django.db import transaction

from diagnosis.core.diagnosis import Diagnosis
from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement
from diagnosis.core.topology import Topology
from diagnosis.core.words import EvidenceKind
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.engine import diagnose
from diagnosis.models import MetricPicture, ProgressPicture
from diagnosis.readers.compression import decompressed
from diagnosis.readers.kinds import kind_of
from diagnosis.services import metrics, taxonomy
from diagnosis.services.answers import plain, result_from
from diagnosis.services.evidence import evidence_of, placement_of, topology_of
from diagnosis.services.heartbeat import kept_alive
from diagnosis.services.history import history_for
from diagnosis.services.origins import origins_of
from diagnosis.taxonomy.history import History
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.taxonomy.suppression import Suppression, SuppressionRules
from incidents import models
from incidents.exceptions import LeaseLost
from incidents.services import diagnoses

logger = logging.getLogger(__name__)


class Engine(Protocol):
    """What `diagnosis.engine.diagnose` is."""

    def __call__(
        self,
        evidence: Iterable[Evidence],
        *,
        placement: Placement | None = None,
        taxonomy: Taxonomy | None = None,
        catalogue: Catalogue | None = None,
        topology: Topology | None = None,
        suppression: Suppression = ...,
        history: History = ...,
        now: float | None = None,
    ) -> Diagnosis: ...


def run(pk: int, *, engine: Engine = diagnose) -> bool:
    """Runs one diagnosis; False where another worker has it, took it over, or it has ended.

    Whatever goes wrong ends in the row's state with words for a person. Nothing that takes long
    happens inside a transaction.
    """
    owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
    if not diagnoses.claim(pk=pk, owner=owner):
        return False
    try:
        with kept_alive(pk=pk, owner=owner):
            _judge(pk, owner, engine)
    except LeaseLost:
        logger.info("Diagnosis %s: another worker's answer stands", pk)
        return False
    except Exception as error:
        logger.exception("Diagnosis %s failed", pk)
        return _fail(pk, owner, error)
    return True


def _fail(pk: int, owner: str, error: Exception) -> bool:
    reason = f"{type(error).__name__}: {error}".removesuffix(": ")
    try:
        diagnoses.fail(pk=pk, owner=owner, error=f"The engine stopped with an error: {reason}")
    except LeaseLost:
        return False
    return True


def _judge(pk: int, owner: str, engine: Engine) -> None:
    row = models.Diagnosis.objects.select_related(
        "incident__attempt", "incident__cluster", "incident__job"
    ).get(pk=pk)
    found = evidence_of(row.incident)
    rules = taxonomy.current(row.incident.cluster.name)
    evidence = {name: item for name, (_, item) in found.items()}
    placement = placement_of(row.incident)
    answer = engine(
        list(evidence.values()),
        placement=placement,
        taxonomy=rules.taxonomy,
        catalogue=metrics.current().catalogue,
        topology=topology_of(row.incident.cluster),
        suppression=suppression_for(row.incident, rules.suppression),
        history=history_for(row.incident, rules.taxonomy),
        now=row.incident.opened_at.timestamp(),
    )
    kinds = {name: _kind(item) for name, item in evidence.items()}
    result = result_from(
        answer,
        records={name: record for name, (record, _) in found.items()},
        kinds=kinds,
        origins=origins_of(evidence, kinds=kinds, placement=placement),
        fault_codes=rules.fault_codes,
    )
    with transaction.atomic():
        stored = diagnoses.store_result(pk=pk, owner=owner, result=result)
        picture = answer.pictures.get("collective_progress")
        if isinstance(picture, Mapping):
            ProgressPicture.objects.create(diagnosis=stored, data=plain(picture))
        drawn = answer.pictures.get("metrics")
        if isinstance(drawn, Mapping):
            MetricPicture.objects.create(diagnosis=stored, data=plain(drawn))


def suppression_for(incident: models.Incident, rules: SuppressionRules) -> Suppression:
    """What is silenced in the incident's cluster, as it counts for its job and its time."""
    job = incident.job.external_id if incident.job else None
    return Suppression(rules, job=job, at=incident.began_at.timestamp())


def _kind(evidence: Evidence) -> str:
    """What the file holds; unknown where it cannot be opened."""
    try:
        return kind_of(decompressed(evidence)).value
    except (OSError, EOFError, ValueError):
        return EvidenceKind.UNKNOWN.value
