"""Escalation: a fault that keeps coming back on one part is worse than any one of its findings.

Pure: findings of now and of the past are handed in, and nothing is escalated unless the caller asks
for it. The rules are the signatures' `escalates`; the shipped ideas (`escalation_idea`) are taken
only on request, for a replay on history (docs/algorithms.md, sections 1 and 7).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from diagnosis.core.target import normalise_host
from diagnosis.core.words import SignatureClass
from diagnosis.taxonomy.signature import Escalation, Signature

#: What a rule can be counted by → the fields of a finding that name it.
_KEYS = {
    "gpu": ("host", "part"),
    "link": ("host", "part"),
    "nic": ("host", "part"),
    "switch": ("part",),
    "host": ("host",),
    "job": ("job",),
}


@dataclass(frozen=True, slots=True)
class PastFinding:
    """One finding on one part.

    `part` is the part's serial number or UUID where it is known, so that a part that moves keeps
    its past; else its address. `time` is in seconds since the epoch.
    """

    code: str
    time: float
    host: str | None = None
    part: str | None = None
    job: str | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Escalated:
    """A rule that fired: the class that the finding moves to, and the findings that made it."""

    finding: PastFinding
    rule: Escalation
    hits: tuple[PastFinding, ...]

    @property
    def to(self) -> SignatureClass:
        return self.rule.to

    @property
    def text(self) -> str:
        place = self.finding.part or self.finding.host or f"job {self.finding.job}"
        jobs = {hit.job for hit in self.hits if hit.job}
        across = f" in {len(jobs)} jobs" if self.rule.across_jobs else ""
        return (
            f"{self.finding.code} {len(self.hits)} times on {place}{across} within "
            f"{self.rule.window_hours:g} h: taken as {self.rule.to.value}"
        )


def escalations(
    findings: Iterable[PastFinding],
    history: Sequence[PastFinding],
    signatures: Mapping[str, Signature],
    *,
    enabled: bool = False,
    with_ideas: bool = False,
) -> list[Escalated]:
    """The rules that fire on `findings`, with what `history` tells of the same parts.

    `signatures` by code. `enabled`: off, nothing fires. A rule across jobs counts one finding per
    job, and fires only when the jobs are of different owners where owners are known: the same bug
    on the same placement proves nothing.
    """
    if not enabled:
        return []
    found = []
    for finding in sorted(findings, key=lambda one: (one.time, one.code, str(one.host))):
        signature = signatures.get(finding.code)
        rule = _rule_of(signature, with_ideas=with_ideas) if signature else None
        hits = _hits(finding, history, rule) if rule else ()
        if rule and len(hits) >= rule.count:
            found.append(Escalated(finding, rule, hits))
    return found


def _rule_of(signature: Signature, *, with_ideas: bool) -> Escalation | None:
    return signature.escalates or (signature.escalation_idea if with_ideas else None)


def _hits(
    finding: PastFinding, history: Sequence[PastFinding], rule: Escalation
) -> tuple[PastFinding, ...]:
    key = _key(finding, rule)
    if key is None:
        return ()
    since = finding.time - rule.window_hours * 3600
    same = {
        one: None
        for one in (*history, finding)
        if one.code == finding.code and since <= one.time <= finding.time and _key(one, rule) == key
    }
    hits = sorted(same, key=lambda one: (one.time, str(one.job)))
    return tuple(_one_a_job(hits)) if rule.across_jobs else tuple(hits)


def _key(finding: PastFinding, rule: Escalation) -> tuple[str, ...] | None:
    """What the finding counts for; None where it does not name it."""
    names = _KEYS.get(rule.key, ("host", "part"))
    values = [getattr(finding, name) for name in names]
    if not all(values):
        return None
    return tuple(
        normalise_host(v) if n == "host" else v for n, v in zip(names, values, strict=True)
    )


def _one_a_job(hits: Sequence[PastFinding]) -> list[PastFinding]:
    by_job = {hit.job: hit for hit in reversed(hits) if hit.job}
    owners = {hit.owner for hit in by_job.values()}
    if len(by_job) > 1 and len(owners) == 1 and None not in owners:
        return list(by_job.values())[:1]
    return sorted(by_job.values(), key=lambda hit: hit.time)
