"""The records of the diagnosis, one concept a file."""

from diagnosis.models.knowledge import FaultType, Signature, TaxonomyVersion
from diagnosis.models.metrics import MetricDefinition, MetricSource, SourceKind, SourceState
from diagnosis.models.pictures import MetricPicture, ProgressPicture
from diagnosis.models.watch import JobWatch, LiveState, WatchVerdict

__all__ = [
    "FaultType",
    "JobWatch",
    "LiveState",
    "MetricDefinition",
    "MetricPicture",
    "MetricSource",
    "ProgressPicture",
    "Signature",
    "SourceKind",
    "SourceState",
    "TaxonomyVersion",
    "WatchVerdict",
]
