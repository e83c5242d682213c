"""Findings, suspects and the diagnosis: what the engine answers, in the contract's shapes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from diagnosis.core.devices import DeviceSeat
from diagnosis.core.sightings import Sighting
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, Role, VerdictClass

#: Bumped whenever the same evidence and taxonomy may give another answer.
ENGINE_VERSION = "0.1.0"


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement derived from evidence, with the way back to where it came from.

    `time` is seconds since the epoch, or ISO 8601 text where only that is known; `evidence` names
    the file; `locator` leads to the line, entry or series inside it; a negative `weight` speaks
    against the target.
    """

    detector: str
    target: Target
    text: str
    evidence: str | None
    locator: Mapping[str, object] | None = None
    time: str | float | None = None
    weight: float = 1.0

    def to_dict(self) -> dict[str, object]:
        return {
            "detector": self.detector,
            "target": self.target.to_dict(),
            "text": self.text,
            "time": self.time,
            "evidence": self.evidence,
            "locator": dict(self.locator) if self.locator is not None else None,
            "weight": self.weight,
        }


@dataclass(frozen=True, slots=True)
class Suspect:
    """A target with the probability (0..1) that it is the cause, and the findings on it."""

    target: Target
    score: float
    role: Role
    fault: str | None
    findings: tuple[Finding, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return {
            "target": self.target.to_dict(),
            "score": round(self.score, 4),
            "role": self.role.value,
            "fault": self.fault,
            "findings": [finding.to_dict() for finding in self.findings],
        }


@dataclass(frozen=True, slots=True)
class Recommendation:
    """An action on a target that a person accepts, rejects or changes."""

    action: Action
    target: Target
    reason: str

    def to_dict(self) -> dict[str, object]:
        return {
            "action": self.action.value,
            "target": self.target.to_dict(),
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happened and why, in one sentence, with how sure that is and what it rests on."""

    kind: IncidentKind
    cls: VerdictClass
    summary: str
    confidence: float
    coverage: Mapping[str, object] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        return {
            "kind": self.kind.value,
            "class": self.cls.value,
            "summary": self.summary,
            "confidence": round(self.confidence, 4),
            "coverage": dict(self.coverage),
        }


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What one branch of the engine (log triage, collective progress) makes of its own evidence.

    `decisive` says that the branch's top rule settles the cause by itself (for instance a critical
    finding, or a call mismatch), so that fusion prefers it over a branch that only saw symptoms.
    """

    branch: str
    verdict: Verdict
    suspects: tuple[Suspect, ...] = ()
    recommendations: tuple[Recommendation, ...] = ()
    trace: tuple[str, ...] = ()
    decisive: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """A piece of evidence that could not be read, and why; kept and shown, never fatal."""

    file: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        return {"file": self.file, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The engine's answer.

    No part of `to_dict`: `pictures`, plain data for drawing; `sightings` and `seats`, what the
    evidence tells for the history of parts, and which device sits where.
    """

    verdict: Verdict
    suspects: tuple[Suspect, ...]
    recommendations: tuple[Recommendation, ...]
    trace: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    taxonomy_version: str
    engine_version: str = ENGINE_VERSION
    judged: bool = True
    pictures: Mapping[str, object] = field(default_factory=dict)
    sightings: tuple[Sighting, ...] = ()
    seats: tuple[DeviceSeat, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return {
            "verdict": self.verdict.to_dict(),
            "suspects": [suspect.to_dict() for suspect in self.suspects],
            "recommendations": [item.to_dict() for item in self.recommendations],
            "trace": list(self.trace),
            "skipped": [item.to_dict() for item in self.skipped],
            "engine_version": self.engine_version,
            "taxonomy_version": self.taxonomy_version,
        }
