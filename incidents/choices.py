"""The words with fixed values that the records store.

The first group repeats `diagnosis.core.words`, which this app may not import; a test in
tests/house asserts that the two agree.
"""

from django.db.models import TextChoices


class IncidentKind(TextChoices):
    """What happened. `none`: nothing is known yet, or a diagnosis found nothing."""

    CRASH = "crash", "Crash"
    HANG = "hang", "Hang"
    DEGRADATION = "degradation", "Degradation"
    CHECK = "check", "Delivery check"
    NONE = "none", "Unclassified"


class VerdictClass(TextChoices):
    """What the cause is."""

    CRITICAL = "critical", "Bad part or host"
    DEGRADATION = "degradation", "Degradation"
    CONFIG = "config", "Configuration"
    USER = "user", "User's code"
    STORAGE = "storage", "Shared storage"
    DISTRIBUTED = "distributed", "Distributed, cause not in evidence"
    HEALTHY = "healthy", "Healthy"
    UNKNOWN = "unknown", "Unknown"


class TargetKind(TextChoices):
    """What a finding, suspect or recommendation is about."""

    RANK = "rank", "Rank"
    GPU = "gpu", "GPU"
    NIC = "nic", "NIC"
    HOST = "host", "Host"
    LINK = "link", "Link"
    SWITCH = "switch", "Switch"
    JOB = "job", "Job"
    USER_CODE = "user-code", "User's code"
    CONFIG = "config", "Configuration"
    STORAGE = "storage", "Shared storage"
    NONE = "none", "None"


class SuspectRole(TextChoices):
    """What a suspect is taken for."""

    CULPRIT = "culprit", "Culprit"
    POSSIBLE = "possible", "Possible"
    VICTIM = "victim", "Victim"


class Action(TextChoices):
    """What a recommendation asks for."""

    ISOLATE_HOST = "isolate-host", "Isolate host"
    RESET_GPU = "reset-gpu", "Reset GPU"
    RESTART_JOB = "restart-job", "Restart job"
    CHECK_LINK = "check-link", "Check link"
    FIX_CONFIG = "fix-config", "Fix configuration"
    FIX_CODE = "fix-code", "Fix code and tell the owner"
    FIX_STORAGE = "fix-storage", "Fix storage"
    ROLL_BACK = "roll-back", "Roll back"
    RUN_OFFLINE = "run-offline", "Run offline diagnosis"
    WATCH = "watch", "Watch"
    NONE = "none", "Nothing to do"


class EvidenceKind(TextChoices):
    """What a piece of evidence holds."""

    LOG = "log", "Log"
    FLIGHT_RECORDER = "flight-recorder", "Flight Recorder dump"
    COUNTERS = "collective-counters", "Collective counters"
    PLACEMENT = "placement", "Placement"
    TOPOLOGY = "topology", "Topology"
    PING_MATRIX = "ping-matrix", "Ping matrix"
    CONFIGURATION = "configuration", "Configuration snapshot"
    METRICS = "metrics", "Metric window"
    ARCHIVE = "archive", "Archive"
    EMPTY = "empty", "Empty file"
    UNKNOWN = "unknown", "Not told yet"


class Severity(TextChoices):
    """How bad an incident is; declared from worst to mildest."""

    CRITICAL = "critical", "Critical"
    HIGH = "high", "High"
    MEDIUM = "medium", "Medium"
    LOW = "low", "Low"
    INFO = "info", "Info"


class IncidentStatus(TextChoices):
    """Where an incident stands, in the words of ticket and paging systems."""

    TRIGGERED = "triggered", "Triggered"
    ACKNOWLEDGED = "acknowledged", "Acknowledged"
    MITIGATED = "mitigated", "Mitigated"
    RESOLVED = "resolved", "Resolved"


#: What an incident is in until it is resolved; asked for by name, because an index finds that.
OPEN_STATUSES = (
    IncidentStatus.TRIGGERED,
    IncidentStatus.ACKNOWLEDGED,
    IncidentStatus.MITIGATED,
)


class Resolution(TextChoices):
    """How an incident ended."""

    PART_ISOLATED = "part-isolated", "Part isolated"
    CONFIG_FIXED = "config-fixed", "Configuration fixed"
    USER_CODE = "user-code", "User's code"
    SHARED_CAUSE = "shared-cause", "Shared cause"
    RECOVERED = "recovered", "Recovered by itself"
    FALSE_ALARM = "false-alarm", "False alarm"
    DUPLICATE = "duplicate", "Duplicate"
    OTHER = "other", "Other"


class BatchStep(TextChoices):
    """What people do to several incidents in one go, and can take back."""

    ACKNOWLEDGE = "acknowledge", "Acknowledged"
    ASSIGN = "assign", "Assigned"
    RESOLVE = "resolve", "Resolved"
    SNOOZE = "snooze", "Snoozed"
    MERGE = "merge", "Merged"


class DiagnosisState(TextChoices):
    """Where one run of the diagnosis stands."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"


class ParseStatus(TextChoices):
    """Whether a piece of evidence could be read."""

    PENDING = "pending", "Not read yet"
    PARSED = "parsed", "Read"
    SKIPPED = "skipped", "Could not be read"


class DecisionKind(TextChoices):
    """What a person decided about a recommendation."""

    ACCEPT = "accept", "Accepted"
    REJECT = "reject", "Rejected"
    CHANGE = "change", "Changed"


class Outcome(TextChoices):
    """What came after a decision."""

    PENDING = "pending", "Not known yet"
    RECOVERED = "recovered", "Job recovered"
    NOT_RECOVERED = "not-recovered", "Job did not recover"
    PART_BAD = "part-bad", "Part confirmed bad by repair"
    PART_GOOD = "part-good", "Part found good by repair"


class RuleKind(TextChoices):
    """What makes a suspect: the signatures of a fault, or a detector."""

    FAULT = "fault", "Fault"
    DETECTOR = "detector", "Detector"


class HostState(TextChoices):
    """Where a host stands."""

    IN_SERVICE = "in-service", "In service"
    SUSPECT = "suspect", "Suspect"
    ISOLATED = "isolated", "Isolated"
    IN_REPAIR = "in-repair", "In repair"
    BEING_CHECKED = "being-checked", "Being checked"


class JobState(TextChoices):
    """Where a job, or one attempt of it, stands."""

    PENDING = "pending", "Pending"
    RUNNING = "running", "Running"
    COMPLETED = "completed", "Completed"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class Role(TextChoices):
    """What a person may do; `incidents.roles` says what each role means."""

    VIEWER = "viewer", "Viewer"
    RESPONDER = "responder", "Responder"
    TAXONOMIST = "taxonomist", "Taxonomist"
    OPERATOR = "operator", "Operator"
    ADMIN = "admin", "Administrator"


class Source(TextChoices):
    """Through which door a change came in."""

    BROWSER = "browser", "Browser"
    API = "api", "API"
    ADMIN = "admin", "Admin site"
    CLI = "cli", "Command line"
    SYSTEM = "system", "Aegis itself"


class SubscriptionState(TextChoices):
    """Whether an endpoint gets anything."""

    ACTIVE = "active", "Active"
    PAUSED = "paused", "Paused"
    DISABLED = "disabled", "Disabled by its own answer"


class DeliveryState(TextChoices):
    """Where one message to an endpoint stands."""

    WAITING = "waiting", "Waiting"
    DELIVERED = "delivered", "Delivered"
    GIVEN_UP = "given-up", "Given up"


class InboxKind(TextChoices):
    """Whose messages an inbox takes."""

    ALERTMANAGER = "alertmanager", "Prometheus Alertmanager"
    PAGERDUTY = "pagerduty", "PagerDuty Events v2"
    CLOUDEVENTS = "cloudevents", "CloudEvents"
    NVSENTINEL = "nvsentinel", "NVSentinel"
    GENERIC = "generic", "Anything in JSON"


class MessageState(TextChoices):
    """Where a message that came in stands."""

    WAITING = "waiting", "Waiting"
    TAKEN = "taken", "Taken"
    REFUSED = "refused", "Could not be read"


class AlertAction(TextChoices):
    """What an alert says of its condition."""

    TRIGGER = "trigger", "Fires"
    ACKNOWLEDGE = "acknowledge", "Acknowledged"
    RESOLVE = "resolve", "Has ended"


class ConnectorKind(TextChoices):
    """Which ticket system a connector speaks to."""

    JIRA = "jira", "Jira"
    SERVICENOW = "servicenow", "ServiceNow"
    HTTP = "http", "Anything over HTTP"


class TicketState(TextChoices):
    """What Aegis and a ticket have to do with each other."""

    LINKED = "linked", "Linked by hand"
    WANTED = "wanted", "Being opened"
    LIVE = "live", "Kept in step"
    REFUSED = "refused", "Could not be opened"


class ExecutionState(TextChoices):
    """Where a command that carries a decision out stands."""

    PLANNED = "planned", "Planned; nothing was run"
    WAITING = "waiting", "Waits for a worker"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    UNKNOWN = "unknown", "Unknown whether it ran"
