"""What chance chooses for the incidents of a large site."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.site_jobs import Site
from diagnosis.taxonomy.ruleset import Taxonomy
from incidents.choices import DecisionKind, IncidentKind, Outcome, Severity, VerdictClass
from incidents.models import Host, Incident

_CLASSES = {
    VerdictClass.CRITICAL: 0.5, VerdictClass.USER: 0.16, VerdictClass.CONFIG: 0.06,
    VerdictClass.STORAGE: 0.05, VerdictClass.DEGRADATION: 0.12, VerdictClass.DISTRIBUTED: 0.08,
    VerdictClass.UNKNOWN: 0.03,
}  # fmt: skip
_KINDS = {IncidentKind.CRASH: 0.6, IncidentKind.HANG: 0.24, IncidentKind.DEGRADATION: 0.13,
          IncidentKind.CHECK: 0.03}  # fmt: skip
_SEVERITIES = {Severity.CRITICAL: 0.1, Severity.HIGH: 0.35, Severity.MEDIUM: 0.4,
               Severity.LOW: 0.15}  # fmt: skip
_OUTCOMES = {Outcome.PENDING: 0.4, Outcome.RECOVERED: 0.4, Outcome.PART_BAD: 0.12,
             Outcome.PART_GOOD: 0.03, Outcome.NOT_RECOVERED: 0.05}  # fmt: skip
#: Scores from which a suspect is called the culprit.
CULPRIT = 0.6


@dataclass(frozen=True, slots=True)
class Draws:
    """What chance chose for each incident of a slice."""

    attempt: Sequence[int]
    kind: Sequence[str]
    severity: Sequence[str]
    verdict: Sequence[str]
    fault: Sequence[str]
    score: Sequence[float]
    outcome: Sequence[str]
    kind_of_decision: Sequence[str]


@dataclass(frozen=True, slots=True)
class Told:
    """One incident with the host that its answer names and its peers."""

    incident: Incident
    place: int
    host: Host
    others: Sequence[Host]


def draw(rng: np.random.Generator, site: Site, count: int) -> Draws:
    codes = [one.code for one in Taxonomy.default().signatures]
    usual = 1 / np.arange(1, len(codes) + 1)

    def pick(shares: Mapping[Any, float]) -> Sequence[str]:
        return [str(one) for one in rng.choice(list(shares), size=count, p=list(shares.values()))]

    return Draws(
        attempt=rng.integers(0, len(site.attempts), size=count).tolist(),
        kind=pick(_KINDS),
        severity=pick(_SEVERITIES),
        verdict=pick(_CLASSES),
        fault=[str(one) for one in rng.choice(codes, size=count, p=usual / usual.sum())],
        score=rng.beta(6, 1.4, size=count).tolist(),
        outcome=pick(_OUTCOMES),
        kind_of_decision=pick(
            {DecisionKind.ACCEPT: 0.86, DecisionKind.REJECT: 0.11, DecisionKind.CHANGE: 0.03}
        ),
    )


def line_of(drawn: Draws, place: int, host: Host) -> str:
    """What a log line of the fault says."""
    fault = drawn.fault[place]
    return f"NVRM: Xid (PCI:0000:9b:00): {fault}, pid=4711, name=python on {host.name}"
