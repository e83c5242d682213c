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
UPSERT = OpenApiExample(
    "A ticket, opened or brought up to date",
    {"title": "llm-70b hangs since 06:20", "severity": "high", "hosts": ["node-017"]},
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
MERGE = OpenApiExample("Merge", {"into": 41}, request_only=True)
SPLIT = OpenApiExample(
    "Two logs of another job", {"title": "vlm-sft crashed", "evidence": [91, 92]}, request_only=True
)
SNOOZE = OpenApiExample("Until tomorrow", {"until": "2026-12-01T08:00:00Z"}, request_only=True)
BATCH = OpenApiExample(
    "Resolve three",
    {"incidents": [41, 42, 43], "step": "resolve", "resolution": "shared-cause", "note": "rack 7"},
    request_only=True,
)
TICKET = OpenApiExample(
    "A ticket",
    {"key": "OPS-8812", "system": "Jira", "url": "https://jira.example/browse/OPS-8812"},
    request_only=True,
)
TICKET_TO_OPEN = OpenApiExample(
    "Open one in a ticket system", {"connector": "ops-jira"}, request_only=True
)
JIRA = OpenApiExample(
    "Jira Cloud",
    {
        "kind": "jira",
        "name": "ops-jira",
        "url": "https://acme.atlassian.net",
        "account": "aegis@acme.example",
        "secret": "the account's API token",
        "options": {"project": "OPS", "issue_type": "Task"},
    },
    request_only=True,
)
SERVICENOW = OpenApiExample(
    "ServiceNow",
    {
        "kind": "servicenow",
        "name": "servicenow",
        "url": "https://acme.service-now.com",
        "account": "aegis",
        "secret": "its password",
        "options": {"fields": {"assignment_group": "GPU operations"}},
    },
    request_only=True,
)
SAVED_VIEW = OpenApiExample(
    "Hangs of one owner",
    {"name": "Our hangs", "query": "kind=hang&owner=alice", "shared": True},
    request_only=True,
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
WEBHOOK = OpenApiExample(
    "A ticket system",
    {
        "name": "ticket system",
        "url": "https://tickets.example/hooks/aegis",
        "events": ["incident.*", "diagnosis.done", "recommendation.accepted"],
    },
    request_only=True,
)
PAUSE = OpenApiExample("Pause", {"state": "paused"}, request_only=True)
REPLAY = OpenApiExample(
    "All that was given up since Monday",
    {"state": "given-up", "since": "2026-11-30T00:00:00Z"},
    request_only=True,
)
ALERTMANAGER = OpenApiExample(
    "Alertmanager, version 4",
    {
        "version": "4",
        "status": "firing",
        "receiver": "aegis",
        "groupKey": '{}:{alertname="XidError"}',
        "alerts": [
            {
                "status": "firing",
                "labels": {
                    "alertname": "XidError",
                    "hostname": "node-017",
                    "job_id": "48211",
                    "severity": "critical",
                },
                "annotations": {"summary": "XID 79 on GPU 3"},
                "startsAt": "2026-11-30T06:20:07Z",
                "endsAt": "0001-01-01T00:00:00Z",
                "fingerprint": "23689f774e9ce1ba",
            }
        ],
    },
    request_only=True,
)
PAGERDUTY = OpenApiExample(
    "Trigger",
    {
        "routing_key": "aegis_5f0c1d2e3a_…",
        "event_action": "trigger",
        "dedup_key": "xid-node-017",
        "payload": {
            "summary": "XID 79 on GPU 3",
            "source": "node-017",
            "severity": "critical",
            "custom_details": {"job_id": "48211"},
        },
    },
    request_only=True,
)
GENERIC_INBOX = OpenApiExample(
    "Zabbix, by a mapping",
    {
        "name": "zabbix",
        "kind": "generic",
        "cluster": "hall-2",
        "mapping": {
            "key": "event.id",
            "status": "event.value == '0' && 'resolved' || 'firing'",
            "title": "event.name",
            "severity": "event.severity",
            "hosts": "host.name",
        },
    },
    request_only=True,
)
TRIAL = OpenApiExample(
    "A sample", {"sample": {"id": "7", "title": "fan stopped", "host": "node-3"}}, request_only=True
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
