"""The records of the diagnosis, one concept a file."""

from diagnosis.models.drafts import DraftState, TaxonomyDraft
from diagnosis.models.knowledge import FaultType, Signature, TaxonomyVersion, VersionInCluster
from diagnosis.models.metrics import MetricDefinition, MetricSource, SourceKind, SourceState
from diagnosis.models.pictures import MetricPicture, ProgressPicture
from diagnosis.models.replays import Replay, ReplayDifference, ReplayState
from diagnosis.models.site_rules import IgnoreRule, MaintenanceWindow, SignatureOverride
from diagnosis.models.watch import JobWatch, LiveState, WatchVerdict

__all__ = [
    "DraftState",
    "FaultType",
    "IgnoreRule",
    "JobWatch",
    "LiveState",
    "MaintenanceWindow",
    "MetricDefinition",
    "MetricPicture",
    "MetricSource",
    "ProgressPicture",
    "Replay",
    "ReplayDifference",
    "ReplayState",
    "Signature",
    "SignatureOverride",
    "SourceKind",
    "SourceState",
    "TaxonomyDraft",
    "TaxonomyVersion",
    "VersionInCluster",
    "WatchVerdict",
]
