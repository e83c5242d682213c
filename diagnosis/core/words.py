"""The words with fixed values that engine, database, API and files share (docs/contract.md)."""

from enum import StrEnum


class VerdictClass(StrEnum):
    """What the *cause* is."""

    CRITICAL = "critical"
    DEGRADATION = "degradation"
    CONFIG = "config"
    USER = "user"
    STORAGE = "storage"
    DISTRIBUTED = "distributed"
    HEALTHY = "healthy"
    UNKNOWN = "unknown"


class IncidentKind(StrEnum):
    """What happened."""

    CRASH = "crash"
    HANG = "hang"
    DEGRADATION = "degradation"
    CHECK = "check"
    NONE = "none"


class TargetKind(StrEnum):
    """What a finding, suspect or recommendation is about."""

    RANK = "rank"
    GPU = "gpu"
    NIC = "nic"
    HOST = "host"
    LINK = "link"
    SWITCH = "switch"
    JOB = "job"
    USER_CODE = "user-code"
    CONFIG = "config"
    STORAGE = "storage"
    NONE = "none"


class Role(StrEnum):
    """What a suspect is taken for. A victim is never recommended for isolation."""

    CULPRIT = "culprit"
    POSSIBLE = "possible"
    VICTIM = "victim"


class Action(StrEnum):
    """What a recommendation asks for."""

    ISOLATE_HOST = "isolate-host"
    RESET_GPU = "reset-gpu"
    RESTART_JOB = "restart-job"
    CHECK_LINK = "check-link"
    FIX_CONFIG = "fix-config"
    FIX_CODE = "fix-code"
    FIX_STORAGE = "fix-storage"
    ROLL_BACK = "roll-back"
    RUN_OFFLINE = "run-offline"
    WATCH = "watch"
    NONE = "none"


class SignatureClass(StrEnum):
    """The class of a fault signature."""

    CRITICAL = "critical"
    DISTRIBUTED = "distributed"
    CONFIG = "config"
    USER = "user"
    STORAGE = "storage"
    DEGRADATION = "degradation"
    INFO = "info"


class EvidenceKind(StrEnum):
    """What a piece of evidence holds, told by its content (see `diagnosis.readers.kinds`)."""

    LOG = "log"
    FLIGHT_RECORDER = "flight-recorder"
    COUNTERS = "collective-counters"
    PLACEMENT = "placement"
    TOPOLOGY = "topology"
    PING_MATRIX = "ping-matrix"
    CONFIGURATION = "configuration"
    METRICS = "metrics"
    ARCHIVE = "archive"
    EMPTY = "empty"
    UNKNOWN = "unknown"
