"""A detector's judgement in the contract's words: verdict, suspects, findings, recommendations."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from diagnosis.core.diagnosis import Diagnosis, Finding, Recommendation, Suspect, Verdict
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass
from diagnosis.degradation.answers import Answer, HostSuspect, Judgement, MetricShift
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.fleet_events import clock, fleet_events

#: A score from here on makes a culprit (docs/contract.md).
CULPRIT_FROM = 0.8
#: Faults that many causes share speak more softly for themselves than those that name a part.
GENERAL_FAULTS = frozenset({"compute-slow", "network-slow"})
GENERAL_SHARE = 0.3

#: Beyond these a shift is not told as a percentage of its peers, or in so many deviations.
LARGEST_FACTOR, MOST_DEVIATIONS = 20.0, 100.0

_LINK_FAULTS = frozenset(
    {"link-down", "link-flapping", "link-dirty", "link-trained-slow", "nic-packet-loss"}
)
_WATCHED_FAULTS = frozenset({"gpu-memory-imbalance", "gpu-memory-ageing", "switch-congestion"})


@dataclass(frozen=True)
class Report:
    """What `detect` answers about one window: the diagnosis, and the times that it rests on."""

    file: str
    diagnosis: Diagnosis
    judgement: Judgement

    def to_dict(self) -> dict[str, object]:
        """The contract's diagnosis object with `file`, `fleet_wide`, and times per suspect."""
        shape = self.diagnosis.to_dict()
        shape["file"] = self.file
        shape["fleet_wide"] = [
            event.to_dict(self.file) for event in fleet_events(self.judgement.fleet_wide)
        ]
        shape["suspects"] = [
            {
                **suspect.to_dict(),
                "onset": found.onset,
                "alarm_time": found.alarm_time,
                "recovered": found.recovered,
                "metrics": [shift.metric for shift in found.metrics],
            }
            for suspect, found in zip(self.diagnosis.suspects, self.judgement.suspects, strict=True)
        ]
        return shape


def report_of(judgement: Judgement, *, file: str, catalogue: Catalogue) -> Report:
    """The judgement about the window that `file` holds, as a diagnosis."""
    suspects = tuple(_suspect(judgement, found, file) for found in judgement.suspects)
    diagnosis = Diagnosis(
        verdict=_verdict(judgement, suspects),
        suspects=suspects,
        recommendations=_recommendations(judgement, suspects),
        trace=_trace(judgement),
        skipped=(),
        taxonomy_version=catalogue_version(catalogue),
        judged=judgement.answer is not Answer.CANNOT_TELL,
    )
    return Report(file=file, diagnosis=diagnosis, judgement=judgement)


def catalogue_version(catalogue: Catalogue) -> str:
    """A hash of the metric definitions that were used."""
    return hashlib.sha256(repr(catalogue.metrics).encode()).hexdigest()[:16]


def fault_of(shifts: Iterable[MetricShift]) -> str | None:
    """The fault that the shifted metrics point to together; None where the catalogue is silent."""
    votes: dict[str, float] = {}
    for shift in shifts:
        if shift.implicates is not None:
            share = GENERAL_SHARE if shift.implicates in GENERAL_FAULTS else 1.0
            strength = share * min(abs(shift.deviations), 20.0)
            votes[shift.implicates] = votes.get(shift.implicates, 0.0) + strength
    return max(votes, key=lambda fault: (votes[fault], fault)) if votes else None


def _verdict(judgement: Judgement, suspects: tuple[Suspect, ...]) -> Verdict:
    coverage = _coverage(judgement)
    if judgement.answer is Answer.CANNOT_TELL:
        return Verdict(
            IncidentKind.NONE,
            VerdictClass.UNKNOWN,
            f"Cannot tell: {judgement.reason}.",
            0.0,
            coverage,
        )
    named = [found for found in judgement.suspects if found.alarm_time is not None]
    if not named:
        hosts = judgement.coverage.hosts_judged
        together = (
            f"; the fleet shifted together in {_listed(judgement)}" if _listed(judgement) else ""
        )
        return Verdict(
            IncidentKind.NONE,
            VerdictClass.HEALTHY,
            f"No host among {hosts} has left its peers{together}.",
            0.9 * judgement.coverage.samples_present,
            coverage,
        )
    first = named[0]
    others = f" and {len(named) - 1} more" if len(named) > 1 else ""
    fault = suspects[0].fault
    summary = (
        f"{first.host}{others} left its peers at {clock(first.onset)}"
        f"{f' ({fault})' if fault else ''}: {shift_in_words(first.metrics[0])}."
    )
    return Verdict(
        IncidentKind.DEGRADATION, VerdictClass.DEGRADATION, summary, suspects[0].score, coverage
    )


def _suspect(judgement: Judgement, found: HostSuspect, file: str) -> Suspect:
    target = _target(found)
    role = Role.CULPRIT if found.score >= CULPRIT_FROM else Role.POSSIBLE
    findings = tuple(
        Finding(
            detector=judgement.detector,
            target=target,
            text=shift_in_words(shift),
            time=found.onset,
            evidence=file,
            locator={
                "metric": shift.metric,
                "host": found.host,
                "device": shift.device,
                "from": found.onset,
                "alarm": found.alarm_time,
            },
        )
        for shift in found.metrics
    )
    return Suspect(target, found.score, role, fault_of(found.metrics), findings)


def _target(found: HostSuspect) -> Target:
    """The device, where what speaks loudest speaks for one, and nothing for another one."""
    devices = {shift.device for shift in found.metrics if shift.device is not None}
    device = found.metrics[0].device if len(devices) == 1 else None
    if device is None:
        return Target(TargetKind.HOST, name=found.host, host=found.host)
    if device.isdigit() or device.lower().startswith("gpu"):
        return Target(TargetKind.GPU, name=found.host, host=found.host, gpu=device)
    return Target(TargetKind.NIC, name=f"{found.host}/{device}", host=found.host, nic=device)


def _recommendations(
    judgement: Judgement, suspects: tuple[Suspect, ...]
) -> tuple[Recommendation, ...]:
    if judgement.answer is Answer.CANNOT_TELL:
        reason = f"Give more data: {judgement.reason}."
        return (Recommendation(Action.NONE, Target(TargetKind.NONE), reason),)
    named = [
        suspect
        for suspect, found in zip(suspects, judgement.suspects, strict=True)
        if found.alarm_time is not None
    ]
    if not named:
        return (Recommendation(Action.NONE, Target(TargetKind.NONE), "Nothing to do."),)
    return tuple(
        Recommendation(_action(suspect), suspect.target, suspect.findings[0].text)
        for suspect in named
    )


def _action(suspect: Suspect) -> Action:
    if suspect.fault in _WATCHED_FAULTS or suspect.role is not Role.CULPRIT:
        return Action.WATCH
    return Action.CHECK_LINK if suspect.fault in _LINK_FAULTS else Action.ISOLATE_HOST


def shift_in_words(shift: MetricShift) -> str:
    """How far a metric is from its peers, in one sentence."""
    near = abs(shift.value) < LARGEST_FACTOR * abs(shift.peers)
    relative = f" ({(shift.value / shift.peers - 1) * 100:+.0f} %)" if near else ""
    away = min(abs(shift.deviations), MOST_DEVIATIONS)
    more = "over " if away == MOST_DEVIATIONS else ""
    device = f" of {shift.device}" if shift.device else ""
    return (
        f"{shift.metric}{device} at {_number(shift.value)} against {_number(shift.peers)} of its "
        f"peers{relative}, {more}{away:.0f} usual deviations; "
        f"{_number(shift.usual)} before"
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _coverage(judgement: Judgement) -> Mapping[str, object]:
    coverage = judgement.coverage
    return {
        "hosts": coverage.hosts,
        "hosts_judged": coverage.hosts_judged,
        "silent_hosts": list(coverage.silent_hosts[:50]),
        "metrics": coverage.metrics,
        "metrics_judged": coverage.metrics_judged,
        "samples_present": round(coverage.samples_present, 4),
    }


def _listed(judgement: Judgement) -> str:
    return ", ".join(dict.fromkeys(shift.metric for shift in judgement.fleet_wide))


def _trace(judgement: Judgement) -> tuple[str, ...]:
    coverage = judgement.coverage
    lines = [
        (
            f"{coverage.hosts_judged} of {coverage.hosts} hosts answered with "
            f"{coverage.metrics_judged} of {coverage.metrics} metrics; "
            f"{coverage.samples_present:.0%} of the samples are there"
        ),
        f"detector {judgement.detector}: {judgement.answer.value}",
    ]
    if judgement.reason:
        lines.append(judgement.reason)
    lines += [event.text for event in fleet_events(judgement.fleet_wide)]
    for found in judgement.suspects:
        metrics = ", ".join(f"{s.metric} {s.deviations:+.0f}δ" for s in found.metrics[:5])
        if found.alarm_time is None:
            lines.append(f"{found.host} came near the bar and did not cross it: {metrics}")
        else:
            lines.append(
                f"{found.host} left its peers at {clock(found.onset)}, certain at "
                f"{clock(found.alarm_time)}: {metrics}"
            )
    return tuple(lines)
