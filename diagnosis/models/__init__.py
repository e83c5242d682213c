"""The records of the diagnosis, one concept a file."""

from diagnosis.models.drafts import DraftState, TaxonomyDraft
from diagnosis.models.knowledge import FaultType, Signature, TaxonomyVersion, VersionInCluster
from diagnosis.models.pictures import ProgressPicture
from diagnosis.models.replays import Replay, ReplayDifference, ReplayState
from diagnosis.models.site_rules import IgnoreRule, MaintenanceWindow, SignatureOverride

__all__ = [
    "DraftState",
    "FaultType",
    "IgnoreRule",
    "MaintenanceWindow",
    "ProgressPicture",
    "Replay",
    "ReplayDifference",
    "ReplayState",
    "Signature",
    "SignatureOverride",
    "TaxonomyDraft",
    "TaxonomyVersion",
    "VersionInCluster",
]
