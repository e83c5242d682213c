"""The records, one concept a file."""

from incidents.models.batch import Batch, BatchItem
from incidents.models.connector import TicketConnector
from incidents.models.decision import Decision
from incidents.models.device import Device, DeviceSeat, FaultRecord
from incidents.models.diagnosis import Diagnosis, Finding, Recommendation, Suspect
from incidents.models.event import Event
from incidents.models.evidence import Blob, Evidence
from incidents.models.execution import Execution
from incidents.models.external_id import ExternalId
from incidents.models.idempotency import IdempotencyKey
from incidents.models.inbox import Alert, Inbox, InboxMessage
from incidents.models.incident import Incident
from incidents.models.job import Attempt, Job, RankPlacement
from incidents.models.pace import PaceHour
from incidents.models.reckoning import JudgedRule, Reckoning
from incidents.models.saved_view import SavedView
from incidents.models.search_term import SearchTerm
from incidents.models.target import TargetFields
from incidents.models.ticket_link import TicketLink
from incidents.models.token import ApiToken
from incidents.models.topology import Cluster, Host
from incidents.models.user import User
from incidents.models.webhook import WebhookAttempt, WebhookDelivery, WebhookSubscription

__all__ = [
    "Alert",
    "ApiToken",
    "Attempt",
    "Batch",
    "BatchItem",
    "Blob",
    "Cluster",
    "Decision",
    "Device",
    "DeviceSeat",
    "Diagnosis",
    "Event",
    "Evidence",
    "Execution",
    "ExternalId",
    "FaultRecord",
    "Finding",
    "Host",
    "IdempotencyKey",
    "Inbox",
    "InboxMessage",
    "Incident",
    "Job",
    "JudgedRule",
    "PaceHour",
    "RankPlacement",
    "Reckoning",
    "Recommendation",
    "SavedView",
    "SearchTerm",
    "Suspect",
    "TargetFields",
    "TicketConnector",
    "TicketLink",
    "User",
    "WebhookAttempt",
    "WebhookDelivery",
    "WebhookSubscription",
]
