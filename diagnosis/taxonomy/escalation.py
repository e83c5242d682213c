"""Escalation: a fault that keeps coming back on one part is worse than any one of its findings.

Pure: findings of now and of the past are handed in. The rules are the signatures' `escalates`; the
shipped ideas (`escalation_idea`) count for nothing until a person makes a rule of one
(docs/taxonomy.md).
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
#: The smallest difference between two times that makes two events of equal words (seconds).
_APART = 1.0


@dataclass(frozen=True, slots=True)
class PastFinding:
    """One finding on one part.

    `part` is the part's UUID or serial number (`identified`), so that a part that moves to another
    host keeps its past; else its address on its host. `time` is in seconds since the epoch.
    """

    code: str
    time: float
    host: str | None = None
    part: str | None = None
    job: str | None = None
    owner: str | None = None
    identified: bool = False


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
        """`xid-31 on GPU-7f: 3rd time in 14 days, over 2 jobs of 2 owners`."""
        finding = self.finding
        place = finding.part if self.rule.key in {"gpu", "nic", "link", "switch"} else None
        where = place or finding.host or f"job {finding.job}"
        if place and finding.host:
            where = f"{place} of {finding.host}"
        jobs = {hit.job for hit in self.hits if hit.job}
        owners = {hit.owner for hit in self.hits if hit.owner}
        over = f", over {_counted(len(jobs), 'job')}" if jobs else ""
        of = f" of {_counted(len(owners), 'owner')}" if jobs and owners else ""
        times = f"{_ordinal(len(self.hits))} time in {_span(self.rule.window_hours)}"
        return f"{finding.code} on {where}: {times}{over}{of}"


def escalations(
    findings: Iterable[PastFinding],
    history: Sequence[PastFinding],
    signatures: Mapping[str, Signature],
) -> list[Escalated]:
    """The rules that fire on `findings`, with what `history` tells of the same parts.

    `signatures` by code. A rule across jobs counts one finding per job. What an application can
    cause (class `user`) fires only when the jobs are of different owners where owners are known:
    the same bug on the same placement proves nothing.
    """
    found = []
    for finding in sorted(findings, key=lambda one: (one.time, one.code, str(one.host))):
        signature = signatures.get(finding.code)
        rule = signature.escalates if signature else None
        if signature is None or rule is None:
            continue
        hits = _hits(finding, history, rule)
        if rule.across_jobs:
            hits = _one_a_job(hits, owners=signature.cls is SignatureClass.USER)
        if len(hits) >= rule.count:
            found.append(Escalated(finding, rule, tuple(hits)))
    return found


def _hits(
    finding: PastFinding, history: Sequence[PastFinding], rule: Escalation
) -> list[PastFinding]:
    """The finding and its like in order of time; a line that was handed in twice counts once."""
    key = _key(finding, rule)
    if key is None:
        return []
    since = finding.time - rule.window_hours * 3600
    same = [
        one
        for one in history
        if one.code == finding.code and since <= one.time <= finding.time and _key(one, rule) == key
    ]
    hits: list[PastFinding] = []
    for one in sorted(same, key=lambda one: (one.time, str(one.job))):
        again = hits and one.time - hits[-1].time < _APART
        if not again and finding.time - one.time >= _APART:
            hits.append(one)
    return [*hits, finding]


def _key(finding: PastFinding, rule: Escalation) -> tuple[str, ...] | None:
    """What the finding counts for; None where it does not name it."""
    names = _KEYS.get(rule.key, ("host", "part"))
    if finding.identified and finding.part and "part" in names:
        return (finding.part.lower(),)
    values = [getattr(finding, name) for name in names]
    if not all(values):
        return None
    return tuple(
        normalise_host(v) if n == "host" else str(v).lower()
        for n, v in zip(names, values, strict=True)
    )


def _one_a_job(hits: Sequence[PastFinding], *, owners: bool) -> list[PastFinding]:
    """The last finding of each job; one in all where `owners` must differ and are the same."""
    by_job = {hit.job: hit for hit in hits if hit.job}
    named = {hit.owner for hit in by_job.values()}
    if owners and len(by_job) > 1 and len(named) == 1 and None not in named:
        return list(by_job.values())[-1:]
    return sorted(by_job.values(), key=lambda hit: hit.time)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{ending or 'th'}"


def _span(hours: float) -> str:
    return f"{hours / 24:g} days" if hours >= 48 and hours % 24 == 0 else f"{hours:g} h"
