"""Examples of the main calls, for the OpenAPI document."""

from drf_spectacular.utils import OpenApiExample

JOB = OpenApiExample(
    "A Slurm job",
    {
        "external_id": "48211",
        "source": "slurm",
        "cluster": "hall-2",
        "name": "llm-70b-pretrain",
        "owner": "alice",
        "framework": "megatron",
        "tp_size": 8,
        "pp_size": 4,
        "dp_size": 16,
    },
    request_only=True,
)
PLACEMENT = OpenApiExample(
    "Two ranks on two hosts",
    [
        {"rank": 0, "host": "node-000", "local_rank": 0, "gpu": 0},
        {"rank": 1, "host": "node-001", "local_rank": 0, "gpu": 0, "nic": "mlx5_0"},
    ],
    request_only=True,
)
ATTEMPT = OpenApiExample(
    "With its placement",
    {
        "number": 4,
        "started_at": "2026-11-30T06:12:00Z",
        "placement": [
            {"rank": 0, "host": "node-000", "local_rank": 0, "gpu": 0},
            {"rank": 1, "host": "node-001", "local_rank": 0, "gpu": 0},
        ],
    },
    request_only=True,
)
ATTEMPT_END = OpenApiExample(
    "It failed",
    {"outcome": "failed", "ended_at": "2026-11-30T06:20:07Z"},
    request_only=True,
)
INCIDENT_OF_ATTEMPT = OpenApiExample(
    "A job that hung",
    {
        "title": "llm-70b-pretrain hangs since 06:20",
        "kind": "hang",
        "severity": "high",
        "attempt": 17,
        "source": "ticket OPS-1234",
        "dedup_key": "OPS-1234",
        "onset_at": "2026-11-30T06:20:07Z",
    },
    request_only=True,
)
INCIDENT_OF_HOSTS = OpenApiExample(
    "Hosts that behave oddly",
    {"hosts": ["node-017", "node-018"], "cluster": "hall-2", "kind": "degradation"},
    request_only=True,
)
ACKNOWLEDGE = OpenApiExample("Acknowledge", {"status": "acknowledged"}, request_only=True)
RESOLVE = OpenApiExample(
    "Resolve",
    {"status": "resolved", "resolution": "part-isolated", "note": "node-017 drained"},
    request_only=True,
)
ASSIGN = OpenApiExample("Assign", {"assignee": "alice"}, request_only=True)
CORRECT = OpenApiExample(
    "Correct", {"title": "llama-70b hangs at step 4200", "severity": "high"}, request_only=True
)
SET_ASIDE = OpenApiExample(
    "Set aside", {"set_aside": True, "reason": "log of another job"}, request_only=True
)
ACCEPT = OpenApiExample("Accept", {"kind": "accept"}, request_only=True)
CHANGE = OpenApiExample(
    "Do something else",
    {
        "kind": "change",
        "changed_action": "reset-gpu",
        "changed_target": "node-017",
        "reason": "Second ECC error on one GPU; a reset cleared it last time.",
    },
    request_only=True,
)
OUTCOME = OpenApiExample(
    "The job came back",
    {"outcome": "recovered", "outcome_note": "Attempt 5 passed iteration 31200."},
    request_only=True,
)
TOKEN = OpenApiExample(
    "For a ticket system",
    {
        "name": "ticket system",
        "scopes": ["read", "respond", "register_jobs"],
        "expires_at": "2027-11-30T00:00:00Z",
    },
    request_only=True,
)
UPLOADED = OpenApiExample(
    "One log, one run",
    {
        "evidence": [
            {
                "id": 91,
                "incident": 12,
                "name": "node-017.dmesg.log",
                "kind": "unknown",
                "host": "",
                "rank": None,
                "job": "",
                "size": 48213,
                "sha256": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
                "began_at": None,
                "ended_at": None,
                "parse_status": "pending",
                "parse_reason": "",
                "uploaded_by": "alice (ticket system)",
                "source": "api",
                "uploaded_at": "2026-11-30T06:31:10Z",
            }
        ],
        "diagnosis": {
            "id": 33,
            "incident": 12,
            "number": 1,
            "state": "queued",
            "error": "",
            "requested_by": "alice (ticket system)",
            "queued_at": "2026-11-30T06:31:10Z",
            "started_at": None,
            "finished_at": None,
            "duration_s": None,
            "engine_version": "",
            "taxonomy_version": "",
            "verdict": None,
        },
    },
    response_only=True,
    status_codes=["201"],
)
