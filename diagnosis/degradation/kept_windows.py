"""Metric files among an incident's evidence: windows are judged again, and drawn again, without a
server; traces of operations are judged beside them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diagnosis.core.diagnosis import Conclusion, Skipped
from diagnosis.core.evidence import Evidence
from diagnosis.core.metrics import MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.degradation.answers import Answer
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.detector import Detector
from diagnosis.degradation.operations_report import conclude_operations
from diagnosis.degradation.pace import Pace, PaceRule
from diagnosis.degradation.picture import pace_picture, window_pictures
from diagnosis.degradation.streaming import series_of
from diagnosis.degradation.verdict import Report, report_of
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.metrics import metric_content, read_metric_bytes
from diagnosis.readers.operations import is_operation_trace


@dataclass(frozen=True, slots=True)
class Judged:
    """What a window tells, and what its pictures are drawn from."""

    window: MetricWindow
    report: Report

    @property
    def weight(self) -> tuple[bool, float, float]:
        """What makes a window tell more than another: a named host, more certainty, newer."""
        faulty = self.report.judgement.answer is Answer.FAULTY
        end = float(self.window.time[-1]) if len(self.window.time) else 0.0
        return faulty, self.report.diagnosis.verdict.confidence, end


def conclude_metrics(
    files: Sequence[Evidence], *, placement: Placement | None, catalogue: Catalogue | None = None
) -> tuple[list[Conclusion], Mapping[str, object] | None, list[Skipped]]:
    """What the window and the trace that tell most say, the window's pictures, what is unreadable.

    Without a `catalogue` the shipped one is used, and only read where there is a window.
    """
    known = catalogue
    judged: list[Judged] = []
    traces: list[Conclusion] = []
    skipped: list[Skipped] = []
    for item in files:
        try:
            content = metric_content(item)
            if is_operation_trace(content):
                traces.append(conclude_operations(content, file=item.name, placement=placement))
                continue
            window = read_metric_bytes(content)
        except UnreadableEvidence as error:
            skipped.append(Skipped(item.name, str(error)))
            continue
        known = known or Catalogue.default()
        judgement = Detector().judge(window, placement=placement, catalogue=known)
        judged.append(Judged(window, report_of(judgement, file=item.name, catalogue=known)))
    found = [max(traces, key=_weight)] if traces else []
    if not judged or known is None:
        return found, None, skipped
    best = max(judged, key=lambda one: one.weight)
    return [_conclusion(best, len(judged)), *found], _pictures(best, placement, known), skipped


def _weight(trace: Conclusion) -> tuple[bool, float]:
    return bool(trace.suspects), trace.verdict.confidence


def _conclusion(best: Judged, windows: int) -> Conclusion:
    told = best.report.diagnosis
    others = () if windows == 1 else (f"{windows} metric windows; {best.report.file} tells most",)
    return Conclusion(
        branch="metrics",
        verdict=told.verdict,
        suspects=told.suspects,
        recommendations=told.recommendations,
        trace=(*others, *told.trace, f"metric definitions {told.taxonomy_version}"),
        decisive=best.report.judgement.answer is Answer.FAULTY,
    )


def _pictures(
    best: Judged, placement: Placement | None, catalogue: Catalogue
) -> Mapping[str, object] | None:
    suspects = best.report.judgement.suspects
    pace = Pace()
    time, seconds = series_of(best.window, "iteration_s")
    if len(time):
        PaceRule().follow(pace, time, seconds)
    drawn = window_pictures(best.window, suspects, placement or Placement(), catalogue)
    shown = {**drawn, "pace": pace_picture(pace) if pace.slowdown else None}
    return shown if suspects or shown["pace"] else None
