"""Rung 4, ConfigCheck: a host whose configuration differs from its peers'.

Drift is normal: a difference is the verdict only when it is new since the host's last snapshot or
fits what the logs complain of; otherwise it is a note (docs/algorithms.md, section 1).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from diagnosis.core.configuration import Snapshot
from diagnosis.core.diagnosis import Conclusion, Finding, Recommendation, Suspect, Verdict
from diagnosis.core.target import Target, normalise_host
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass
from diagnosis.triage.settings import TriageSettings

#: Names of values → components of the fault taxonomy on which they can tell.
_TELLS_ON: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), frozenset(components))
    for pattern, components in (
        (
            r"mtu|mlx|\bib|roce|ofed|rdma|nic|eth|bond|pfc|ecn|dscp|gid|rate|link|port|firmware",
            {"nic", "ccl", "optics", "switch"},
        ),
        (r"nccl|rccl|ucx|gloo|sharp|efa|libfabric|aws-ofi", {"ccl", "nic"}),
        (
            r"driver|cuda|fabric|gsp|vbios|nvidia|rocm|amdgpu|hip",
            {"gpu", "driver", "nvlink", "nvswitch", "ccl"},
        ),
        (r"pcie|acs|iommu|numa", {"pcie", "gpu", "nic", "ccl"}),
        (r"torch|^pip\.|python", {"framework", "ccl", "user-code"}),
        (
            r"kernel|\bos|glibc|limit|memlock|nofile|shm|hugepage",
            {"config", "host-memory", "filesystem", "nic", "ccl"},
        ),
        (r"lustre|nfs|gpfs|mount|weka|beegfs", {"filesystem"}),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    """One value in which a host differs. `was`: the host's value before, where one is known."""

    host: str
    name: str
    value: str
    usual: str
    hosts: int
    alike: int
    file: str
    line: int | None
    was: str | None = None
    fits: bool = False

    @property
    def is_new(self) -> bool:
        """Did the host have its peers' value before?"""
        return self.was is not None and self.was == self.usual

    @property
    def text(self) -> str:
        new = f"; before it was {self.was}" if self.is_new else ""
        return (
            f"{self.name} is {self.value}, on {self.alike} of {self.hosts} hosts {self.usual}{new}"
        )


def conclude_configuration(
    snapshots: Sequence[Snapshot], symptoms: Iterable[str], settings: TriageSettings
) -> Conclusion | None:
    """What the snapshots say; None where fewer hosts than can be compared are known.

    `symptoms`: components of the taxonomy that the logs complain of.
    """
    hosts = {normalise_host(snapshot.host) for snapshot in snapshots}
    if len(hosts) < settings.config_hosts:
        return None
    found = differences(snapshots, frozenset(symptoms), settings)
    telling = [one for one in found if one.is_new or one.fits]
    if not telling:
        return _note(found, len(hosts))
    return _verdict(telling, found, len(hosts))


def differences(
    snapshots: Sequence[Snapshot], symptoms: frozenset[str], settings: TriageSettings
) -> list[Difference]:
    """Values in which few hosts differ from a clear majority, by host and name."""
    now, before = _latest(snapshots)
    names: dict[str, dict[str, tuple[str, Snapshot]]] = {}
    for host, values in now.items():
        for name, held in values.items():
            names.setdefault(name, {})[host] = held
    found = []
    for name, by_host in names.items():
        usual, alike = _majority(value for value, _ in by_host.values())
        if len(by_host) < settings.config_hosts or alike < settings.config_share * len(by_host):
            continue
        fits = any(pattern.search(name) and parts & symptoms for pattern, parts in _TELLS_ON)
        for host, (value, snapshot) in by_host.items():
            if value != usual:
                found.append(
                    Difference(
                        snapshot.host,
                        name,
                        value,
                        usual,
                        len(by_host),
                        alike,
                        snapshot.file,
                        (snapshot.lines or {}).get(name),
                        before.get(host, {}).get(name),
                        fits,
                    )
                )
    return sorted(found, key=lambda one: (not one.is_new, not one.fits, one.host, one.name))


def _majority(values: Iterable[str]) -> tuple[str, int]:
    """The most frequent value and its count; at a tie the first in order of text."""
    return min(Counter(values).items(), key=lambda item: (-item[1], item[0]))


def _latest(
    snapshots: Sequence[Snapshot],
) -> tuple[dict[str, dict[str, tuple[str, Snapshot]]], dict[str, Mapping[str, str]]]:
    """Each host's values as its last snapshots tell them, and what they were before."""
    now: dict[str, dict[str, tuple[str, Snapshot]]] = {}
    before: dict[str, dict[str, str]] = {}
    ordered = sorted(snapshots, key=lambda one: (one.time or 0.0, one.file))
    for snapshot in ordered:
        host = normalise_host(snapshot.host)
        held = now.setdefault(host, {})
        for name, value in snapshot.values.items():
            if name in held:
                before.setdefault(host, {})[name] = held[name][0]
            held[name] = (value, snapshot)
    return now, dict(before)


def _verdict(telling: Sequence[Difference], every: Sequence[Difference], hosts: int) -> Conclusion:
    odd = list(dict.fromkeys(one.host for one in telling))
    suspects = []
    for host in odd:
        own = [one for one in telling if one.host == host]
        strong = any(one.is_new and one.fits for one in own)
        score = (0.85 if strong else 0.6) if len(odd) == 1 else 0.6 / len(odd)
        suspects.append(_suspect(own, score))
    first = telling[0]
    why = "new since its last snapshot" if first.is_new else "of the kind the logs complain of"
    text = f"{first.host} differs from its peers: {first.text} ({why})"
    return Conclusion(
        branch="configuration",
        verdict=Verdict(
            kind=IncidentKind.CRASH,
            cls=VerdictClass.CONFIG,
            summary=f"{text}; bring its configuration in line, isolate nothing.",
            confidence=suspects[0].score,
            coverage={"configuration_hosts": hosts},
        ),
        suspects=tuple(suspects),
        recommendations=tuple(
            Recommendation(Action.FIX_CONFIG, suspect.target, suspect.findings[0].text)
            for suspect in suspects
        ),
        trace=(_trace(every, hosts), text),
        decisive=suspects[0].score >= 0.8,
    )


def _suspect(own: Sequence[Difference], score: float) -> Suspect:
    target = Target(TargetKind.CONFIG, name=own[0].name, host=own[0].host)
    findings = tuple(
        Finding(
            detector="config-check",
            target=target,
            text=f"{one.host}: {one.text}",
            evidence=one.file,
            locator={"line": one.line} if one.line else {"entry": one.name},
        )
        for one in own[:20]
    )
    role = Role.CULPRIT if score >= 0.8 else Role.POSSIBLE
    return Suspect(target, score, role, "configuration-differs", findings)


def _note(found: Sequence[Difference], hosts: int) -> Conclusion:
    if found:
        odd = sorted({one.host for one in found})
        text = (
            f"{len(odd)} of {hosts} hosts differ in configuration ({', '.join(odd[:5])}: "
            f"{found[0].text}), but nothing says that it is new or has to do with the failure."
        )
    else:
        text = f"The configuration of {hosts} hosts is alike."
    return Conclusion(
        branch="configuration",
        verdict=Verdict(
            kind=IncidentKind.NONE,
            cls=VerdictClass.UNKNOWN,
            summary=text,
            confidence=0.1,
            coverage={"configuration_hosts": hosts},
        ),
        recommendations=(Recommendation(Action.NONE, Target(TargetKind.NONE), text),),
        trace=(_trace(found, hosts), text),
    )


def _trace(found: Sequence[Difference], hosts: int) -> str:
    values = len({one.name for one in found})
    return f"ConfigCheck: {hosts} hosts compared, {values} values in which few differ from the rest"
