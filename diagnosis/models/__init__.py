"""The records of the diagnosis, one concept a file."""

from diagnosis.models.checks import (
    CheckedHost,
    CheckRun,
    CheckRunner,
    CheckSuite,
    CheckTask,
    HostDecision,
    OfflineDiagnosis,
    RunState,
    TaskState,
)
from diagnosis.models.drafts import DraftState, TaxonomyDraft
from diagnosis.models.knowledge import FaultType, Signature, TaxonomyVersion, VersionInCluster
from diagnosis.models.metric_versions import MetricVersion
from diagnosis.models.metrics import MetricDefinition, MetricSource, SourceKind, SourceState
from diagnosis.models.pictures import MetricPicture, ProgressPicture
from diagnosis.models.replays import Replay, ReplayDifference, ReplayState
from diagnosis.models.site_rules import IgnoreRule, MaintenanceWindow, SignatureOverride
from diagnosis.models.watch import JobWatch, LiveState, WatchVerdict

__all__ = [
    "CheckRun",
    "CheckRunner",
    "CheckSuite",
    "CheckTask",
    "CheckedHost",
    "DraftState",
    "FaultType",
    "HostDecision",
    "IgnoreRule",
    "JobWatch",
    "LiveState",
    "MaintenanceWindow",
    "MetricDefinition",
    "MetricPicture",
    "MetricSource",
    "MetricVersion",
    "OfflineDiagnosis",
    "ProgressPicture",
    "Replay",
    "ReplayDifference",
    "ReplayState",
    "RunState",
    "Signature",
    "SignatureOverride",
    "SourceKind",
    "SourceState",
    "TaskState",
    "TaxonomyDraft",
    "TaxonomyVersion",
    "VersionInCluster",
    "WatchVerdict",
]
