"""What a finished diagnosis hands over to the records, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from incidents.choices import ParseStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetData:
    """A target in the contract's words; empty text where something is not known."""

    kind: str
    name: str = ""
    host: str = ""
    gpu: str = ""
    nic: str = ""
    rank: int | None = None
    peer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingData:
    """One finding. `time` is seconds since the epoch or ISO 8601 text.

    `evidence` is the file's name as the engine saw it, `evidence_id` the key of its record.
    """

    detector: str
    target: TargetData
    text: str
    evidence: str = ""
    evidence_id: int | None = None
    locator: Mapping[str, object] | None = None
    time: str | float | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspectData:
    """One suspect; `findings` are positions in the result's list of findings."""

    target: TargetData
    score: float
    role: str
    fault: str = ""
    findings: Sequence[int] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendationData:
    """One recommended action."""

    action: str
    target: TargetData
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingData:
    """What became of one piece of evidence, by its key, and for whom it was found to speak."""

    evidence_id: int
    status: ParseStatus
    reason: str = ""
    kind: str = ""
    host: str = ""
    rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatData:
    """A device that evidence shows on a host, by UUID or serial number."""

    kind: str
    host: str
    serial: str = ""
    uuid: str = ""
    pci: str = ""
    index: int | None = None
    name: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultData:
    """A fault that befell a host, or the device that it calls `part`; times in epoch seconds.

    `role` and `score` where the answer names the part as the cause.
    """

    kind: str
    host: str
    part: str = ""
    code: str = ""
    fault: str = ""
    count: int = 1
    first: float | None = None
    last: float | None = None
    role: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisResult:
    """A diagnosis to be stored; suspects and recommendations in their order of rank."""

    kind: str
    verdict_class: str
    summary: str
    confidence: float
    engine_version: str
    taxonomy_version: str
    coverage: Mapping[str, object] = field(default_factory=dict)
    findings: Sequence[FindingData] = ()
    suspects: Sequence[SuspectData] = ()
    recommendations: Sequence[RecommendationData] = ()
    trace: Sequence[str] = ()
    skipped: Sequence[Mapping[str, str]] = ()
    readings: Sequence[ReadingData] = ()
    seats: Sequence[SeatData] = ()
    faults: Sequence[FaultData] = ()
