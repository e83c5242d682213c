"""How `detect` judges one file: a metric window or an operation trace, told by its content."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diagnosis.core.diagnosis import Diagnosis, Skipped, Verdict
from diagnosis.core.evidence import Evidence
from diagnosis.core.metrics import MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.core.words import IncidentKind, VerdictClass
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.detectors import DETECTORS
from diagnosis.degradation.operations import ComputeContrast
from diagnosis.degradation.operations_report import operations_diagnosis
from diagnosis.degradation.verdict import catalogue_version, report_of
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.metrics import metric_content, read_metric_bytes
from diagnosis.readers.operations import is_operation_trace, read_operations


@dataclass(frozen=True, slots=True)
class Answer:
    """The contract's object about one file or server, and whether it could be judged."""

    shape: dict[str, Any]
    judged: bool


@dataclass(frozen=True, slots=True)
class Question:
    """What every window is judged with."""

    placement: Placement | None
    catalogue: Catalogue
    detector: str

    def about_file(self, path: Path) -> Answer:
        """The answer about a file; one that cannot be read says why and is not judged."""
        try:
            if not path.is_file():
                raise UnreadableEvidence("no such file")
            content = metric_content(Evidence.from_path(path))
            if is_operation_trace(content):
                return self.about_operations(content, str(path))
            return self.about_window(read_metric_bytes(content), str(path))
        except (UnreadableEvidence, OSError) as error:
            return self.unread(str(path), str(error))

    def about_window(self, window: MetricWindow, name: str) -> Answer:
        """The answer about a metric window."""
        judge = DETECTORS[self.detector].judge
        judgement = judge(window, placement=self.placement, catalogue=self.catalogue)
        report = report_of(judgement, file=name, catalogue=self.catalogue)
        return Answer(report.to_dict(), report.diagnosis.judged)

    def about_operations(self, content: bytes, name: str) -> Answer:
        """The answer about a trace of computing operations."""
        trace = read_operations(content)
        judgement = ComputeContrast()(trace)
        found = operations_diagnosis(judgement, trace, file=name, placement=self.placement)
        return Answer({**found.to_dict(), "file": name, "fleet_wide": []}, found.judged)

    def unread(self, name: str, reason: str) -> Answer:
        """The contract's object for what could not be read."""
        summary = f"{name} could not be read: {reason}."
        found = Diagnosis(
            verdict=Verdict(IncidentKind.NONE, VerdictClass.UNKNOWN, summary, 0.0),
            suspects=(),
            recommendations=(),
            trace=(summary,),
            skipped=(Skipped(name, reason),),
            taxonomy_version=catalogue_version(self.catalogue),
            judged=False,
        )
        return Answer({**found.to_dict(), "file": name, "fleet_wide": []}, judged=False)
