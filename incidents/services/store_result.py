"""Storing what a run answered: all of it or nothing, once."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from incidents import selectors
from incidents.choices import DiagnosisState
from incidents.exceptions import LeaseLost
from incidents.models import (
    Diagnosis,
    Evidence,
    Finding,
    Recommendation,
    Suspect,
)
from incidents.roles import Actor
from incidents.services.carrying import carry_into
from incidents.services.events import record
from incidents.services.evidence import note_reading
from incidents.services.history import record_history
from incidents.services.indexing import index_devices
from incidents.services.reckoning import reckon
from incidents.services.results import DiagnosisResult, FindingData, TargetData
from incidents.services.show_answer import show_answer


@transaction.atomic
def store_result(*, pk: int, owner: str, result: DiagnosisResult) -> Diagnosis:
    """Ends the run with its answer and shows it on the incident.

    The change of state is conditional on the lease, so that a run done twice is stored once.
    Raises `LeaseLost` where the run is no longer `owner`'s; nothing is written then.
    """
    diagnosis = _finish(pk, owner, result)
    evidence = {item.pk: item for item in selectors.evidence_of(diagnosis.incident)}
    findings = _store_findings(diagnosis, result.findings, evidence)
    _store_suspects(diagnosis, result, findings)
    _store_recommendations(diagnosis, result)
    carried = carry_into(diagnosis)
    for reading in result.readings:
        if reading.evidence_id in evidence:
            note_reading(evidence[reading.evidence_id], reading)
    diagnosis.evidence.set([r.evidence_id for r in result.readings if r.evidence_id in evidence])
    show_answer(diagnosis)
    diagnosis.incident.refresh_from_db(fields=["onset_at"])
    record_history(diagnosis, result)
    index_devices(diagnosis.incident)
    reckon(diagnosis.incident)
    record(
        actor=Actor.system(),
        verb="diagnosis.done",
        text=f"Diagnosis {diagnosis.number}: {result.summary}",
        incident=diagnosis.incident,
        data={
            "diagnosis": pk,
            "class": result.verdict_class,
            "confidence": result.confidence,
            "carried_decisions": [one.pk for one in carried],
        },
    )
    return diagnosis


def _finish(pk: int, owner: str, result: DiagnosisResult) -> Diagnosis:
    now = timezone.now()
    held = Diagnosis.objects.filter(pk=pk, state=DiagnosisState.RUNNING, lease_owner=owner)
    written = held.update(
        state=DiagnosisState.DONE,
        finished_at=now,
        lease_owner="",
        lease_expires_at=None,
        error="",
        engine_version=result.engine_version,
        taxonomy_version=result.taxonomy_version,
        kind=result.kind,
        verdict_class=result.verdict_class,
        summary=result.summary,
        confidence=result.confidence,
        coverage=dict(result.coverage),
        trace=list(result.trace),
        skipped=[dict(item) for item in result.skipped],
    )
    if not written:
        raise LeaseLost(f"Diagnosis {pk} is no longer held by {owner}.")
    diagnosis = Diagnosis.objects.select_related("incident__job").get(pk=pk)
    diagnosis.duration_s = (now - (diagnosis.started_at or now)).total_seconds()
    diagnosis.save(update_fields=["duration_s"])
    return diagnosis


def _store_findings(
    diagnosis: Diagnosis, findings: Sequence[FindingData], evidence: Mapping[int, Evidence]
) -> list[Finding]:
    rows = [
        Finding(
            diagnosis=diagnosis,
            position=position,
            detector=finding.detector,
            text=finding.text,
            at=_instant(finding.time),
            time_text=_time_text(finding.time),
            evidence=evidence.get(finding.evidence_id or 0),
            evidence_name=finding.evidence,
            locator=None if finding.locator is None else dict(finding.locator),
            weight=finding.weight,
            **_target(finding.target),
        )
        for position, finding in enumerate(findings)
    ]
    return Finding.objects.bulk_create(rows, batch_size=500)


def _store_suspects(
    diagnosis: Diagnosis, result: DiagnosisResult, findings: Sequence[Finding]
) -> None:
    suspects = Suspect.objects.bulk_create(
        [
            Suspect(
                diagnosis=diagnosis,
                position=position,
                score=suspect.score,
                role=suspect.role,
                fault=suspect.fault,
                **_target(suspect.target),
            )
            for position, suspect in enumerate(result.suspects, start=1)
        ]
    )
    links = Suspect.findings.through
    links.objects.bulk_create(
        [
            links(suspect_id=row.pk, finding_id=findings[position].pk)
            for row, suspect in zip(suspects, result.suspects, strict=True)
            for position in dict.fromkeys(suspect.findings)
        ],
        batch_size=500,
    )


def _store_recommendations(diagnosis: Diagnosis, result: DiagnosisResult) -> None:
    Recommendation.objects.bulk_create(
        [
            Recommendation(
                diagnosis=diagnosis,
                position=position,
                action=item.action,
                reason=item.reason,
                **_target(item.target),
            )
            for position, item in enumerate(result.recommendations, start=1)
        ]
    )


def _target(target: TargetData) -> Mapping[str, object]:
    return {f"target_{field}": value for field, value in asdict(target).items()}


def _time_text(time: str | float | None) -> str:
    if time is None or isinstance(time, str):
        return (time or "")[:100]
    instant = _instant(time)
    return instant.isoformat() if instant else str(time)


def _instant(time: str | float | None) -> datetime | None:
    """The instant, where the time has a zone or is counted since the epoch."""
    try:
        if isinstance(time, str):
            parsed = parse_datetime(time)
            return parsed if parsed is not None and parsed.tzinfo else None
        return None if time is None else datetime.fromtimestamp(time, UTC)
    except (ValueError, OverflowError, OSError):
        return None
