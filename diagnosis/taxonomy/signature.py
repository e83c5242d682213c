"""Fault signatures: what one row of the taxonomy says."""

from dataclasses import dataclass
from enum import StrEnum

from diagnosis.core.words import Action, SignatureClass


class Severity(StrEnum):
    """How bad the event is by itself."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"

    @property
    def weight(self) -> int:
        """4 for critical down to 0 for info."""
        return len(Severity) - 1 - list(Severity).index(self)


class Stream(StrEnum):
    """Where a signature's line normally appears. It decides whose host the line speaks for."""

    KERNEL = "kernel"
    JOB = "job"
    SYSTEM = "system"
    SCHEDULER = "scheduler"
    SWITCH = "switch"
    BMC = "bmc"


class Implicates(StrEnum):
    """What the event is about."""

    GPU = "gpu"
    NIC = "nic"
    HOST = "host"
    LINK = "link"
    SWITCH = "switch"
    JOB = "job"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Escalation:
    """The class a finding moves to when it repeats: `count` times in `window_hours` for one `key`.

    `across_jobs`: the hits must come from different jobs.
    """

    to: SignatureClass
    key: str
    count: int
    window_hours: float
    across_jobs: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Signature:
    """One fault signature. Field meanings: docs/contract.md and the head of `default.yaml`.

    `follow_on` marks a consequence or summary, which is never the primary cause while another
    signature stands. `escalation_idea` has the shape of `escalates` and is switched off.
    """

    code: str
    title: str
    component: str
    cls: SignatureClass
    severity: Severity
    stream: Stream
    pattern: str
    implicates: Implicates
    action: Action
    priority: int = 50
    follow_on: bool = False
    examples: tuple[str, ...] = ()
    explanation: str = ""
    source: str = ""
    enabled: bool = True
    escalates: Escalation | None = None
    escalation_idea: Escalation | None = None
