"""What progress and metrics together say of a job at one moment, and how certain that is."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from diagnosis.collectives.picture import progress_picture
from diagnosis.collectives.second_views import AskedProgress, second_views
from diagnosis.collectives.standstill import Motion, Standstill
from diagnosis.collectives.standstill_verdict import localise_standstill
from diagnosis.core.diagnosis import Diagnosis, Recommendation, Suspect, Verdict
from diagnosis.core.placement import Placement
from diagnosis.core.target import Target, normalise_host
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass
from diagnosis.degradation.answers import Answer, Judgement
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.fleet_events import congestion
from diagnosis.degradation.pace import Slowdown
from diagnosis.degradation.verdict import catalogue_version, report_of
from diagnosis.fusion import fuse
from diagnosis.models import WatchVerdict
from diagnosis.services.watch_metrics import MetricLook

#: What findings of the watch say they come from.
EVIDENCE = "metrics of the watch"
#: A host that was slow before a hang that names nobody is the likeliest, and no more.
MOST_OF_SLOW_HOST = 0.6
_JOB = Target(TargetKind.JOB, name="the job")


@dataclass(frozen=True, slots=True)
class Situation:
    """A job at one moment.

    Times are seconds since 1970. `sees_progress` and `sees_metrics` say whether that side was seen
    well enough to call trouble over; `learned` is since when it is known what is usual there.
    `withheld` says why nothing is opened for it, where people expect it.
    """

    verdict: WatchVerdict
    summary: str
    kind: IncidentKind | None = None
    onset: float | None = None
    slowdown: Slowdown | None = None
    judgement: Judgement | None = None
    diagnosis: Diagnosis | None = None
    sees_progress: bool = False
    sees_metrics: bool = False
    learned: float | None = None
    pictures: Mapping[str, object] = field(default_factory=dict)
    withheld: str = ""

    @property
    def signature(self) -> dict[str, object]:
        """What makes this trouble the same as a minute ago: kind, hosts, size of the slowdown."""
        suspects = self.diagnosis.suspects if self.diagnosis else ()
        targets = sorted({_place(s.target) for s in suspects if s.role is not Role.VICTIM})
        return {
            "kind": self.kind.value if self.kind else "",
            "targets": targets,
            "slower": round(self.slowdown.share, 3) if self.slowdown else None,
        }


def situation_of(
    still: Standstill,
    look: MetricLook,
    *,
    slowdown: Slowdown | None,
    placement: Placement,
    catalogue: Catalogue,
    asked: AskedProgress | None = None,
) -> Situation:
    """The situation, the gravest part first: standing still, then slow, then well, then unknown."""
    judged = look.judgement is not None and look.judgement.answer is not Answer.CANNOT_TELL
    found = _slow(look, slowdown, catalogue)
    if still.motion is Motion.STILL:
        found = _hung(still, found, placement, catalogue, asked)
    elif found is None:
        found = Situation(*_quiet(still, look, judged=judged))
    return replace(
        found,
        sees_progress=still.motion not in {Motion.NO_REPORTS, Motion.STALE},
        sees_metrics=judged,
        learned=look.learned,
    )


def _hung(
    still: Standstill,
    slow: Situation | None,
    placement: Placement,
    catalogue: Catalogue,
    asked: AskedProgress | None,
) -> Situation:
    hang = localise_standstill(still, placement, asked.ended if asked else {})
    views = [hang, *second_views(still, asked, placement)]
    answer = fuse(views, skipped=(), taxonomy_version=catalogue_version(catalogue))
    if slow is not None and slow.diagnosis is not None:
        answer = with_slow_hosts(answer, slow.diagnosis)
    pictures = dict(slow.pictures) if slow else {}
    if still.progress is not None:
        pictures["collective_progress"] = progress_picture(
            still.progress, answer.suspects, answer.verdict.summary
        )
    return Situation(
        verdict=WatchVerdict.HUNG,
        summary=answer.verdict.summary,
        kind=IncidentKind.HANG,
        onset=still.last_moved,
        slowdown=slow.slowdown if slow else None,
        judgement=slow.judgement if slow else None,
        diagnosis=answer,
        pictures=pictures,
    )


def _slow(look: MetricLook, slowdown: Slowdown | None, catalogue: Catalogue) -> Situation | None:
    """Hosts that left their peers, iterations that take longer, or both; None for neither."""
    judgement = look.judgement
    suspects = judgement.suspects if judgement else ()
    if not suspects and slowdown is None:
        return None
    answer = None
    if judgement is not None and suspects:
        answer = report_of(judgement, file=EVIDENCE, catalogue=catalogue).diagnosis
    if slowdown is not None:
        answer = _with_slowdown(answer, slowdown, judgement, catalogue)
    if answer is None:
        return None
    onsets = [suspect.onset for suspect in suspects]
    onset = slowdown.onset if slowdown else min(onsets)
    return Situation(
        verdict=WatchVerdict.SLOW,
        summary=answer.verdict.summary,
        kind=IncidentKind.DEGRADATION,
        onset=onset,
        slowdown=slowdown,
        judgement=judgement,
        diagnosis=answer,
        withheld=_explained(look, slowdown, catalogue),
    )


def _explained(look: MetricLook, slowdown: Slowdown | None, catalogue: Catalogue) -> str:
    """Why a slowdown is nobody's fault; empty where a host stands out or nothing explains it."""
    judgement = look.judgement
    if slowdown is None or judgement is None or judgement.suspects or look.until is None:
        return ""
    crowded = congestion(judgement.fleet_wide, catalogue, onset=slowdown.onset, now=look.until)
    if not crowded:
        return ""
    metrics = ", ".join(dict.fromkeys(crowded))
    return f"the fabric is congested for all hosts alike ({metrics}), and none has left its peers"


def _with_slowdown(
    answer: Diagnosis | None,
    slowdown: Slowdown,
    judgement: Judgement | None,
    catalogue: Catalogue,
) -> Diagnosis:
    """The answer with how much slower the job is; one of its own where no host stands out."""
    slower = (
        f"iterations take {slowdown.share:.0%} longer since {_clock(slowdown.onset)} "
        f"({slowdown.after:.3g} s in place of {slowdown.before:.3g} s)"
    )
    lost = {"lost_share": round(slowdown.share / (1 + slowdown.share), 4)}
    if answer is not None:
        summary = f"{_who(answer)}; {slower}."
        coverage = {**answer.verdict.coverage, **lost}
        verdict = replace(answer.verdict, summary=summary, coverage=coverage)
        return replace(answer, verdict=verdict, trace=(slower, *answer.trace))
    reason = "no host has left its peers"
    if judgement is None or judgement.answer is Answer.CANNOT_TELL:
        reason = "whether a host has left its peers cannot be told"
    shifts = judgement.fleet_wide if judgement else ()
    together = ", ".join(dict.fromkeys(shift.metric for shift in shifts))
    return Diagnosis(
        verdict=Verdict(
            IncidentKind.DEGRADATION,
            VerdictClass.UNKNOWN,
            f"{slower[0].upper()}{slower[1:]}; {reason}"
            + (f"; all hosts shifted in {together}." if together else "."),
            0.5,
            lost,
        ),
        suspects=(),
        recommendations=(
            Recommendation(
                Action.WATCH, _JOB, "Look at what changed in the job, its data and its storage."
            ),
        ),
        trace=(slower, reason),
        skipped=(),
        taxonomy_version=catalogue_version(catalogue),
    )


def _quiet(still: Standstill, look: MetricLook, *, judged: bool) -> tuple[WatchVerdict, str]:
    """Well only where something was seen and nothing failed; else why it cannot be told."""
    parts = []
    if still.motion is not Motion.NO_REPORTS:
        parts.append(f"progress: {still.reason}")
    if look.error:
        parts.append("metrics: the source fails")
    elif look.judgement is not None:
        told = look.judgement.reason or "no host has left its peers"
        parts.append(f"metrics: {told}")
    summary = "; ".join(parts) or "neither progress reports nor a metric source"
    moving = still.motion in {Motion.MOVING, Motion.PAUSED}
    no_metrics = look.judgement is None and not look.error
    well = (judged and still.motion is not Motion.STALE) or (moving and no_metrics)
    verdict = WatchVerdict.HEALTHY if well else WatchVerdict.CANNOT_TELL
    return verdict, summary[0].upper() + summary[1:] + "."


def _who(answer: Diagnosis) -> str:
    """`node-017 mlx5_1 left its peers (nic-packet-loss)`, and how many more hosts did."""
    first, *others = answer.suspects
    named = [item for item in others if item.role is Role.CULPRIT]
    part = first.target.nic or (f"GPU {first.target.gpu}" if first.target.gpu else "")
    who = f"{first.target.host} {part}".strip()
    more = f" and {len(named)} more" if named else ""
    fault = f" ({first.fault})" if first.fault else ""
    return f"{who}{more} left its peers{fault}"


def with_slow_hosts(answer: Diagnosis, slow: Diagnosis) -> Diagnosis:
    """Hosts that had left their peers before the job stopped are possible causes, after the rank
    that did not arrive; on that rank's own host they speak for it.
    """
    known = {_place(item.target) for item in answer.suspects if item.role is not Role.VICTIM}
    top = max((item.score for item in answer.suspects), default=0.0)
    more = [
        replace(item, role=Role.POSSIBLE, score=min(item.score, 1 - top, MOST_OF_SLOW_HOST))
        for item in slow.suspects
        if _place(item.target) not in known
    ]
    theirs = {_place(item.target): item for item in slow.suspects}
    joined = [_spoken_for(item, theirs.get(_place(item.target))) for item in answer.suspects]
    ranked = sorted([*joined, *more], key=lambda item: (item.role is Role.VICTIM, -item.score))
    return replace(answer, suspects=tuple(ranked), trace=(*answer.trace, *slow.trace))


def _spoken_for(suspect: Suspect, slow: Suspect | None) -> Suspect:
    """With what the metrics of its host say. Of the ranks that one stalled operation leaves
    possible, the one whose host had left its peers is the likeliest.
    """
    if slow is None or suspect.role is Role.VICTIM:
        return suspect
    more = min(slow.score, MOST_OF_SLOW_HOST) if suspect.role is Role.POSSIBLE else 0.0
    score = 1 - (1 - suspect.score) * (1 - more)
    return replace(suspect, score=score, findings=(*suspect.findings, *slow.findings))


def _place(target: Target) -> str:
    return normalise_host(target.host) if target.host else str(target.name)


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
