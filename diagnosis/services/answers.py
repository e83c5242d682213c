"""The engine's answer as the records store it."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import orjson

from diagnosis.core.diagnosis import Diagnosis, Finding, Suspect
from diagnosis.core.target import Target
from diagnosis.readers.archives import IN_PART
from diagnosis.readers.origin import Origin
from diagnosis.readers.sorted_evidence import CUT_OFF
from diagnosis.services.faults import faults_in, seats_in
from incidents import models
from incidents.choices import ParseStatus
from incidents.services.evidence import NAME_LENGTH
from incidents.services.results import (
    DiagnosisResult,
    FindingData,
    ReadingData,
    RecommendationData,
    SuspectData,
    TargetData,
)


def result_from(
    answer: Diagnosis,
    *,
    records: Mapping[str, models.Evidence],
    kinds: Mapping[str, str],
    origins: Mapping[str, Origin],
    fault_codes: Mapping[str, str],
) -> DiagnosisResult:
    """The answer as plain data.

    `records`, `kinds` and `origins` are by the names that the engine was given; `fault_codes` lead
    from a signature's code to its fault type's.
    """
    findings = _Findings(records)
    suspects = [_suspect(suspect, findings, fault_codes) for suspect in answer.suspects]
    return DiagnosisResult(
        kind=answer.verdict.kind,
        verdict_class=answer.verdict.cls,
        summary=answer.verdict.summary,
        confidence=_share(answer.verdict.confidence),
        engine_version=answer.engine_version,
        taxonomy_version=answer.taxonomy_version,
        coverage=plain(answer.verdict.coverage),
        findings=findings.rows,
        suspects=suspects,
        recommendations=[
            RecommendationData(action=item.action, target=_target(item.target), reason=item.reason)
            for item in answer.recommendations
        ],
        trace=answer.trace,
        skipped=[item.to_dict() for item in answer.skipped],
        readings=_readings(answer, records, kinds, origins),
        seats=seats_in(answer),
        faults=faults_in(answer, fault_codes),
    )


def plain(value: Mapping[Any, object]) -> dict[str, object]:
    """The same as plain JSON data: numpy numbers, enums and tuples become what JSON has."""
    options = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
    found: dict[str, object] = orjson.loads(orjson.dumps(dict(value), option=options))
    return found


def _suspect(
    suspect: Suspect, findings: "_Findings", fault_codes: Mapping[str, str]
) -> SuspectData:
    code = suspect.fault or ""
    return SuspectData(
        target=_target(suspect.target),
        score=_share(suspect.score),
        role=suspect.role,
        fault=fault_codes.get(code, code),
        findings=[findings.position_of(finding) for finding in suspect.findings],
    )


def _readings(
    answer: Diagnosis,
    records: Mapping[str, models.Evidence],
    kinds: Mapping[str, str],
    origins: Mapping[str, Origin],
) -> list[ReadingData]:
    unread = {item.file: item.reason for item in answer.skipped}
    found = []
    for name, record in records.items():
        origin = origins.get(name, Origin())
        reading = ReadingData(
            evidence_id=record.pk,
            status=_status(unread.get(name, "")),
            reason=unread.get(name, ""),
            kind=kinds.get(name, ""),
            host=origin.host or "",
            rank=origin.rank,
        )
        found.append(reading)
    return found


def _status(reason: str) -> ParseStatus:
    """A file that was cut off was read as far as it goes, an archive as far as it can be."""
    read = reason in {"", CUT_OFF} or reason.startswith(IN_PART)
    return ParseStatus.PARSED if read else ParseStatus.SKIPPED


def _share(value: float) -> float:
    """Into the range from 0 to 1, which rounding may leave by a hair."""
    return min(max(value, 0.0), 1.0)


class _Findings:
    """Findings in order of first mention, each once, however many suspects share it."""

    def __init__(self, records: Mapping[str, models.Evidence]) -> None:
        self.rows: list[FindingData] = []
        self._records = records
        self._positions: dict[bytes, int] = {}

    def position_of(self, finding: Finding) -> int:
        key = orjson.dumps(plain(finding.to_dict()))
        if key not in self._positions:
            self._positions[key] = len(self.rows)
            self.rows.append(self._row(finding))
        return self._positions[key]

    def _record_of(self, name: str) -> models.Evidence | None:
        """The record of a file, or of the archive that it is in."""
        paths = (name, *map(str, PurePosixPath(name).parents))
        return next((self._records[path] for path in paths if path in self._records), None)

    def _row(self, finding: Finding) -> FindingData:
        record = self._record_of(finding.evidence or "")
        return FindingData(
            detector=finding.detector,
            target=_target(finding.target),
            text=finding.text,
            evidence=_shown(finding.evidence or ""),
            evidence_id=record.pk if record else None,
            locator=None if finding.locator is None else plain(finding.locator),
            time=finding.time,
            weight=finding.weight,
        )


def _shown(name: str) -> str:
    """A file's name as long as one may be; of a longer path in an archive both ends."""
    return name if len(name) <= NAME_LENGTH else f"{name[:245]} ... {name[-250:]}"


def _target(target: Target) -> TargetData:
    return TargetData(
        kind=target.kind,
        name=target.name or "",
        host=target.host or "",
        gpu="" if target.gpu is None else str(target.gpu),
        nic=target.nic or "",
        rank=target.rank,
        peer=target.peer or "",
    )
