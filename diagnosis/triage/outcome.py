"""What one rung of the ladder concludes."""

from dataclasses import dataclass, field

from diagnosis.core.diagnosis import Recommendation, Suspect
from diagnosis.core.words import IncidentKind, VerdictClass


@dataclass(frozen=True)
class Outcome:
    """A verdict in the making; `trace` says why this rung spoke."""

    cls: VerdictClass
    kind: IncidentKind
    summary: str
    confidence: float
    suspects: tuple[Suspect, ...] = ()
    recommendations: tuple[Recommendation, ...] = ()
    trace: tuple[str, ...] = ()
    decisive: bool = False
    codes: frozenset[str] = field(default_factory=frozenset)
