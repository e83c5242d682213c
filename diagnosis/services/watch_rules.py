"""What people told of a cluster, as it counts for the watch: overrides, ignore rules, maintenance.

Metrics have no signatures; they count by the fault that a metric implicates, and a rule's pattern
is searched in what the finding says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from diagnosis.core.diagnosis import Diagnosis, Recommendation
from diagnosis.core.target import normalise_host
from diagnosis.core.words import Role, SignatureClass
from diagnosis.degradation.answers import HostSuspect, MetricShift
from diagnosis.degradation.verdict import shift_in_words
from diagnosis.models import SignatureOverride
from diagnosis.services.rulebook import override_row, silenced_in
from diagnosis.services.watch_metrics import MetricLook
from diagnosis.services.watch_situation import Situation
from diagnosis.taxonomy.overrides import Override
from diagnosis.taxonomy.suppression import Suppression
from diagnosis.triage.suppressed import without_maintenance
from incidents.models import Attempt


@dataclass(frozen=True, slots=True)
class WatchRules:
    """The rules of one job at one moment; `overrides` by the code of signature or fault type."""

    suppression: Suppression = field(default_factory=Suppression)
    overrides: Mapping[str, Override] = field(default_factory=dict)

    def heeded(self, look: MetricLook) -> tuple[MetricLook, Sequence[str]]:
        """The look without what is ignored or switched off, and why something is missing."""
        if look.judgement is None or not (self.suppression or self.overrides):
            return look, ()
        told: dict[str, None] = {}
        left = []
        for suspect in look.judgement.suspects:
            shifts = [one for one in suspect.metrics if not self._leaves_out(one, suspect, told)]
            if shifts:
                left.append(replace(suspect, metrics=tuple(shifts)))
        judged = replace(look.judgement, suspects=tuple(left))
        return replace(look, judgement=judged), tuple(told)

    def _leaves_out(self, shift: MetricShift, suspect: HostSuspect, told: dict[str, None]) -> bool:
        fault = shift.implicates or ""
        text = shift_in_words(shift)
        reason = self.suppression.ignored(
            signature=fault,
            host=suspect.host,
            on_line=self.suppression.rules_on(text.encode()),
        )
        override = self.overrides.get(fault)
        if reason is None and override is not None and _is_off(override):
            reason = f"off in this cluster: {override.reason}"
        if reason is not None:
            told[f"suppressed: {shift.metric} of {suspect.host}: {reason}"] = None
        return reason is not None

    def held_back(self, situation: Situation, told: Sequence[str]) -> Situation:
        """The situation with advice held back where there is maintenance.

        `withheld` says why nothing is opened: the job or its cluster is under maintenance, every
        host that stands out is, or what the situation itself says.
        """
        answer = situation.diagnosis
        if answer is None:
            more = " ".join(f"({line})" for line in told)
            return replace(situation, summary=f"{situation.summary} {more}".strip())
        answer = without_maintenance(self._with_actions(answer), self.suppression)
        answer = replace(answer, trace=(*answer.trace, *told))
        withheld = self._withheld(answer) or situation.withheld
        summary = answer.verdict.summary
        return replace(
            situation,
            diagnosis=answer,
            withheld=withheld,
            summary=f"{summary} No incident is opened: {withheld}." if withheld else summary,
        )

    def _withheld(self, answer: Diagnosis) -> str:
        whole = self.suppression.maintenance_of(None)
        if whole is not None:
            return f"the job is {whole}"
        hosts = {s.target.host for s in answer.suspects if s.role is not Role.VICTIM}
        named = {normalise_host(host): host for host in hosts if host}
        covered = {host: self.suppression.maintenance_of(host) for host in named.values()}
        if not covered or None in covered.values() or None in hosts:
            return ""
        return f"{', '.join(sorted(covered))} is {next(iter(covered.values()))}"

    def _with_actions(self, answer: Diagnosis) -> Diagnosis:
        """The advice with the actions that this cluster takes for these faults."""
        wanted = {
            normalise_host(one.target.host): override
            for one in answer.suspects
            if one.target.host
            and (override := self.overrides.get(one.fault or "")) is not None
            and override.action is not None
        }
        if not wanted:
            return answer
        return replace(
            answer,
            recommendations=tuple(_acting(item, wanted) for item in answer.recommendations),
        )


def _acting(item: Recommendation, wanted: Mapping[str, Override]) -> Recommendation:
    override = wanted.get(normalise_host(item.target.host or ""))
    if override is None or override.action is None:
        return item
    reason = f"{item.reason} In this cluster: {override.reason}"
    return replace(item, action=override.action, reason=reason)


def _is_off(override: Override) -> bool:
    return override.disabled or override.cls is SignatureClass.INFO


def rules_for(attempt: Attempt, now: datetime) -> WatchRules:
    """The rules of the attempt's cluster, as they count for its job at this moment."""
    job = attempt.job
    suppression = silenced_in(job.cluster)
    rows = SignatureOverride.objects.filter(cluster=job.cluster_id)
    overrides: dict[str, Override] = {}
    for row in rows.select_related("cluster", "signature__fault_type"):
        override = Override.from_row(override_row(row), f"override of {row.signature.code}")
        overrides[row.signature.fault_type.code] = override
        overrides[row.signature.code] = override
    return WatchRules(Suppression(suppression, job=job.external_id, at=now.timestamp()), overrides)
