"""The records, one concept a file."""

from incidents.models.decision import Decision
from incidents.models.diagnosis import Diagnosis, Finding, Recommendation, Suspect
from incidents.models.event import Event
from incidents.models.evidence import Blob, Evidence
from incidents.models.idempotency import IdempotencyKey
from incidents.models.incident import Incident
from incidents.models.job import Attempt, Job, RankPlacement
from incidents.models.target import TargetFields
from incidents.models.token import ApiToken
from incidents.models.topology import Cluster, Host
from incidents.models.user import User

__all__ = [
    "ApiToken",
    "Attempt",
    "Blob",
    "Cluster",
    "Decision",
    "Diagnosis",
    "Event",
    "Evidence",
    "Finding",
    "Host",
    "IdempotencyKey",
    "Incident",
    "Job",
    "RankPlacement",
    "Recommendation",
    "Suspect",
    "TargetFields",
    "User",
]
