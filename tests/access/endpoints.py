"""Every endpoint below `/api/v1/`, by hand: what it takes, and what others than its cluster get.

`{incident}` and the like stand for the one record of that kind in a cluster.
"""

from enum import StrEnum
from typing import Any, NamedTuple

from incidents.roles import Capability

READ, RESPOND, REGISTER, OPERATE, EXECUTE, ADMINISTER = (
    Capability.READ,
    Capability.RESPOND,
    Capability.REGISTER_JOBS,
    Capability.OPERATE,
    Capability.EXECUTE,
    Capability.ADMINISTER,
)


class Elsewhere(StrEnum):
    """What someone gets who is limited to another cluster than that of the record."""

    HIDDEN = "404: it is not there"
    ABSENT = "a list without it"
    EMPTY = "204: nothing to show"
    SAME = "the same: it belongs to no cluster"
    UNSEEN = "404 for everyone who is limited: it is for those who see every cluster"
    REFUSED = "403: it is for those who see every cluster"
    OUTSIDE = "403: the body names a cluster out of reach"
    FOREIGN = "403: someone else's, whom only an administrator of all clusters speaks for"
    PRIVATE = "404 for everyone but whose it is"
    UNKNOWN = "400: the body names what is not there"


HIDDEN, ABSENT, EMPTY, SAME, UNSEEN, REFUSED, OUTSIDE, FOREIGN, PRIVATE, UNKNOWN = Elsewhere


class Cell(NamedTuple):
    """One method of one address."""

    method: str
    address: str
    needs: Capability
    elsewhere: Elsewhere
    body: Any = None


ALERTS: dict[str, Any] = {"alerts": []}
PLACE = [{"rank": 0, "host": "n"}]
NOW = "2026-11-30T06:20:07Z"
PROGRESS = {"time": NOW, "reports": [{"rank": 0, "step": 1}]}
EVENT = {"event_action": "trigger", "payload": {"summary": "s"}}
PLACES = {"hosts": [{"name": "n", "pod": "p", "tor": ["t"]}], "cluster": "{cluster}"}
CHECK = {"suite": "cpu", "hosts": ["n"], "cluster": "{cluster}", "confirm": True}
RUNNER = {"host": "n", "cluster": "{cluster}"}
OFFLINE = {"hosts": ["n", "m"], "cluster": "{cluster}", "confirm": True}
BATCH = {"step": "acknowledge", "incidents": ["{second}"]}
TOKEN = {"name": "t", "scopes": ["read"], "expires_at": "2099-01-01T00:00:00Z"}

CONNECTOR = {"kind": "http", "name": "c", "url": "https://a.example", "secret": "s"}

ENDPOINTS = [
    Cell("GET", "me", READ, SAME),
    Cell("GET", "clusters", READ, ABSENT),
    Cell("GET", "hosts", READ, ABSENT),
    Cell("GET", "hosts/{host}", READ, HIDDEN),
    Cell("PATCH", "hosts/{host}", OPERATE, HIDDEN, {"state": "isolated"}),
    Cell("GET", "jobs", READ, ABSENT),
    Cell("POST", "jobs", REGISTER, OUTSIDE, {"external_id": "9", "cluster": "{cluster}"}),
    Cell("GET", "jobs/{job}", READ, HIDDEN),
    Cell("GET", "jobs/{job}/attempts", READ, HIDDEN),
    Cell("POST", "jobs/{job}/attempts", REGISTER, HIDDEN, {}),
    Cell("GET", "attempts/{attempt}", READ, HIDDEN),
    Cell("PATCH", "attempts/{attempt}", REGISTER, HIDDEN, {"outcome": "failed"}),
    Cell("GET", "attempts/{attempt}/placement", READ, HIDDEN),
    Cell("PUT", "attempts/{attempt}/placement", REGISTER, HIDDEN, PLACE),
    Cell("POST", "attempts/{attempt}/progress", REGISTER, HIDDEN, PROGRESS),
    Cell("GET", "attempts/{attempt}/watch", READ, HIDDEN),
    Cell("GET", "incidents", READ, ABSENT),
    Cell("POST", "incidents", RESPOND, OUTSIDE, {"title": "t", "cluster": "{cluster}"}),
    Cell("GET", "incidents/{incident}", READ, HIDDEN),
    Cell("PATCH", "incidents/{incident}", RESPOND, HIDDEN, {"severity": "low"}),
    Cell("GET", "incidents/by-external/tickets/{external}", READ, HIDDEN),
    Cell("PUT", "incidents/by-external/tickets/{external}", RESPOND, REFUSED, {"title": "t"}),
    Cell("POST", "incidents", RESPOND, UNKNOWN, {"title": "t", "job": "{job}"}),
    Cell("POST", "incidents", RESPOND, UNKNOWN, {"title": "t", "attempt": "{attempt}"}),
    Cell("POST", "incidents/{incident}/merge", RESPOND, HIDDEN, {"into": "{second}"}),
    Cell("POST", "incidents/{incident}/unmerge", RESPOND, HIDDEN, {}),
    Cell("POST", "incidents/{incident}/split", RESPOND, HIDDEN, {"title": "t", "hosts": ["n"]}),
    Cell("POST", "incidents/{incident}/snooze", RESPOND, HIDDEN, {}),
    Cell("DELETE", "incidents/{incident}/snooze", RESPOND, HIDDEN),
    Cell("GET", "incidents/{incident}/similar", READ, HIDDEN),
    Cell("GET", "incidents/{incident}/tickets", READ, HIDDEN),
    Cell("POST", "incidents/{incident}/tickets", RESPOND, HIDDEN, {"key": "OPS-1"}),
    Cell("GET", "tickets/{ticket}", READ, HIDDEN),
    Cell("DELETE", "tickets/{ticket}", RESPOND, HIDDEN),
    Cell("POST", "batches", RESPOND, UNKNOWN, BATCH),
    Cell("GET", "batches/{batch}", READ, HIDDEN),
    Cell("POST", "batches/{batch}/undo", RESPOND, HIDDEN, {}),
    Cell("GET", "views", READ, SAME),
    Cell("POST", "views", READ, SAME, {"name": "v"}),
    Cell("GET", "views/{view}", READ, SAME),
    Cell("DELETE", "views/{view}", READ, FOREIGN),
    Cell("POST", "topology", OPERATE, OUTSIDE, PLACES),
    Cell("GET", "views/{private_view}", READ, PRIVATE),
    Cell("DELETE", "views/{private_view}", READ, PRIVATE),
    Cell("GET", "check-suites", READ, SAME),
    Cell("POST", "check-suites", OPERATE, REFUSED, {"definition": {}}),
    Cell("GET", "check-runs", READ, ABSENT),
    Cell("POST", "check-runs", OPERATE, OUTSIDE, CHECK),
    Cell("GET", "check-runs/{check_run}", READ, HIDDEN),
    Cell("POST", "check-runs/{check_run}/repeat", OPERATE, HIDDEN, {"confirm": True}),
    Cell("POST", "check-runs/{check_run}/cancel", OPERATE, HIDDEN, {}),
    Cell("GET", "check-runners", READ, ABSENT),
    Cell("POST", "check-runners", REGISTER, OUTSIDE, RUNNER),
    Cell("POST", "check-runners/{runner}/tasks", REGISTER, HIDDEN, {}),
    Cell("POST", "check-tasks/{check_task}/output", REGISTER, HIDDEN, {"stdout": "s"}),
    Cell("GET", "offline-diagnoses", READ, ABSENT),
    Cell("POST", "offline-diagnoses", OPERATE, OUTSIDE, OFFLINE),
    Cell("GET", "offline-diagnoses/{offline}", READ, HIDDEN),
    Cell("POST", "offline-diagnoses/{offline}/cancel", OPERATE, HIDDEN, {}),
    Cell("POST", "offline-diagnoses/{offline}/rounds/1", OPERATE, HIDDEN, {"results": [None]}),
    Cell("POST", "incidents/{incident}/notes", RESPOND, HIDDEN, {"text": "t"}),
    Cell("GET", "incidents/{incident}/evidence", READ, HIDDEN),
    Cell("POST", "incidents/{incident}/evidence?name=a.log", RESPOND, HIDDEN, {"a": 1}),
    Cell("GET", "evidence/{evidence}", READ, HIDDEN),
    Cell("PATCH", "evidence/{evidence}", RESPOND, HIDDEN, {"set_aside": True, "reason": "r"}),
    Cell("GET", "evidence/{evidence}/content", READ, HIDDEN),
    Cell("GET", "incidents/{incident}/diagnoses", READ, HIDDEN),
    Cell("POST", "incidents/{incident}/diagnoses", RESPOND, HIDDEN, {}),
    Cell("GET", "diagnoses/{diagnosis}", READ, HIDDEN),
    Cell("GET", "diagnoses/{diagnosis}/pictures/collective-progress", READ, HIDDEN),
    Cell("GET", "suspects", READ, ABSENT),
    Cell("GET", "suspects/{suspect}", READ, HIDDEN),
    Cell("GET", "recommendations", READ, ABSENT),
    Cell("GET", "recommendations/{recommendation}", READ, HIDDEN),
    Cell("GET", "recommendations/{recommendation}/decisions", READ, HIDDEN),
    Cell("POST", "recommendations/{recommendation}/decisions", RESPOND, HIDDEN, {"kind": "accept"}),
    Cell("POST", "recommendations/{recommendation}/execution", EXECUTE, HIDDEN, {}),
    Cell("GET", "executions", READ, ABSENT),
    Cell("GET", "executions/{execution}", READ, HIDDEN),
    Cell("POST", "executions/{execution}/run", EXECUTE, HIDDEN, {}),
    Cell("GET", "decisions", READ, ABSENT),
    Cell("GET", "decisions/{decision}", READ, HIDDEN),
    Cell("PATCH", "decisions/{decision}", RESPOND, HIDDEN, {"outcome": "recovered"}),
    Cell("POST", "decisions/{decision}/undo", RESPOND, HIDDEN, {}),
    Cell("GET", "events", READ, ABSENT),
    Cell("GET", "tokens", OPERATE, ABSENT),
    Cell("POST", "tokens", OPERATE, SAME, TOKEN),
    Cell("GET", "tokens/{token}", OPERATE, UNSEEN),
    Cell("DELETE", "tokens/{token}", OPERATE, UNSEEN),
    Cell("GET", "webhooks", OPERATE, ABSENT),
    Cell("POST", "webhooks", OPERATE, REFUSED, {"name": "w", "url": "https://a.example/"}),
    Cell("GET", "webhooks/{webhook}", OPERATE, HIDDEN),
    Cell("PATCH", "webhooks/{webhook}", OPERATE, HIDDEN, {"state": "paused"}),
    Cell("DELETE", "webhooks/{webhook}", OPERATE, HIDDEN),
    Cell("POST", "webhooks/{webhook}/secret", OPERATE, HIDDEN, {}),
    Cell("POST", "webhooks/{webhook}/test", OPERATE, HIDDEN, {}),
    Cell("POST", "webhooks/{webhook}/replay", OPERATE, HIDDEN, {}),
    Cell("GET", "webhooks/{webhook}/deliveries", OPERATE, HIDDEN),
    Cell("GET", "deliveries/{delivery}", OPERATE, HIDDEN),
    Cell("POST", "deliveries/{delivery}/replay", OPERATE, HIDDEN, {}),
    Cell("POST", "deliveries/{delivery}/skip", OPERATE, HIDDEN, {}),
    Cell("POST", "incidents/{incident}/tickets", RESPOND, HIDDEN, {"connector": "jira-{cluster}"}),
    Cell("GET", "connectors", OPERATE, ABSENT),
    Cell("POST", "connectors", OPERATE, REFUSED, CONNECTOR),
    Cell("GET", "connectors/{connector}", OPERATE, HIDDEN),
    Cell("PATCH", "connectors/{connector}", OPERATE, HIDDEN, {"state": "paused"}),
    Cell("DELETE", "connectors/{connector}", OPERATE, HIDDEN),
    Cell("POST", "connectors/{connector}/test", OPERATE, HIDDEN, {}),
    Cell("GET", "connectors/{connector}/deliveries", OPERATE, HIDDEN),
    Cell("GET", "inboxes", OPERATE, ABSENT),
    Cell("POST", "inboxes", OPERATE, REFUSED, {"name": "i"}),
    Cell("GET", "inboxes/{inbox}", OPERATE, HIDDEN),
    Cell("PATCH", "inboxes/{inbox}", OPERATE, HIDDEN, {"enabled": False}),
    Cell("POST", "inboxes/{inbox}/try", OPERATE, HIDDEN, {"sample": ALERTS}),
    Cell("GET", "inboxes/{inbox}/messages", OPERATE, HIDDEN),
    Cell("POST", "inbox/{inbox_name}", RESPOND, HIDDEN, ALERTS),
    Cell("POST", "inbox/pagerduty/v2/enqueue", RESPOND, REFUSED, EVENT),
    Cell("GET", "reports/over-time", READ, SAME),
    Cell("GET", "reports/faults", READ, ABSENT),
    Cell("GET", "reports/rules", READ, ABSENT),
    Cell("GET", "problems", READ, SAME),
    Cell("GET", "problems/not-found", READ, SAME),
    Cell("GET", "taxonomy", READ, SAME),
    Cell("GET", "taxonomy/fault-types", READ, SAME),
    Cell("GET", "taxonomy/fault-types/{fault}", READ, SAME),
    Cell("GET", "taxonomy/signatures", READ, SAME),
    Cell("GET", "taxonomy/signatures/{signature}", READ, SAME),
    Cell("GET", "taxonomy/versions", READ, SAME),
    Cell("GET", "taxonomy/versions/{version}", READ, SAME),
]
