"""What messages of other systems are read as."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.alert_kinds import MAPPINGS
from incidents.alert_mapping import AlertData, check, read
from incidents.choices import AlertAction, Severity
from incidents.exceptions import InvalidInput

HEALTH = {
    "specversion": "1.0",
    "type": "com.nvidia.nvsentinel.health.v1",
    "source": "nvsentinel://hall-2/healthevents",
    "id": "1",
    "data": {
        "metadata": {"cluster": "hall-2"},
        "healthEvent": {
            "agent": "gpu-health-monitor",
            "checkName": "GpuXidError",
            "isFatal": True,
            "isHealthy": False,
            "message": "XID 79",
            "errorCode": ["79"],
            "entitiesImpacted": [{"entityType": "GPU", "entityValue": "3"}],
            "generatedTimestamp": "2026-11-30T06:20:07Z",
            "nodeName": "node-017",
        },
    },
}
WORDS = st.sampled_from(["alerts", "labels", "data", "payload", "fingerprint", "id", "healthEvent"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)


def one(kind: str, body: object) -> AlertData:
    (found,) = read(MAPPINGS[kind], body)
    return found


def health(**more: object) -> dict[str, object]:
    event = {**HEALTH["data"]["healthEvent"], **more}  # type: ignore[index]
    return {**HEALTH, "data": {**HEALTH["data"], "healthEvent": event}}  # type: ignore[dict-item]


def test_a_recorded_alertmanager_message_names_host_and_job(cases: Path):
    body = json.loads((cases / "alertmanager" / "v4-firing.json").read_text())["body"]
    found = one("alertmanager", body)
    assert (found.title, found.hosts, found.job) == ("XidError: XID 79", ("node2",), "101")
    assert (found.severity, found.action) == (Severity.CRITICAL, AlertAction.TRIGGER)
    assert found.ended_at is None


def test_a_pagerduty_source_is_a_host_only_where_it_is_known():
    event = {
        "event_action": "resolve",
        "dedup_key": "k",
        "payload": {"summary": "XID 79", "source": "node-017", "severity": "error"},
    }
    found = one("pagerduty", event)
    assert (found.hosts, found.known_hosts) == ((), ("node-017",))
    assert (found.action, found.severity) == (AlertAction.RESOLVE, Severity.HIGH)


def test_a_cloud_event_is_known_by_source_and_subject():
    event = {"source": "/dcgm", "subject": "node-3", "id": "1", "type": "gpu.bad", "data": {}}
    found = one("cloudevents", event)
    assert (found.key, found.title) == ("/dcgm/node-3", "gpu.bad")


def test_cloud_events_come_in_batches():
    event = {"source": "/dcgm", "id": "1", "type": "gpu.bad", "data": {"host": "node-3"}}
    assert [a.key for a in read(MAPPINGS["cloudevents"], [event, {**event, "id": "2"}])] == [
        "/dcgm/1",
        "/dcgm/2",
    ]


def test_a_health_event_is_known_by_node_check_and_part():
    found = one("nvsentinel", HEALTH)
    assert found.key == "node-017/GpuXidError/GPU:3"
    assert (found.hosts, found.cluster) == (("node-017",), "hall-2")
    assert (found.severity, found.action) == (Severity.CRITICAL, AlertAction.TRIGGER)


def test_a_healthy_event_without_parts_clears_all_of_its_check():
    found = one("nvsentinel", health(isHealthy=True, entitiesImpacted=[]))
    assert (found.key, found.action) == ("node-017/GpuXidError/*", AlertAction.RESOLVE)


def test_a_health_event_of_a_dry_run_is_no_alert():
    assert read(MAPPINGS["nvsentinel"], health(processingStrategy="STORE_ONLY")) == []


@pytest.mark.parametrize(
    ("mapping", "field"),
    [
        ({"key": "a[", "title": "b"}, "key"),
        ({"key": "a"}, "title"),
        ({"key": "a", "title": "b", "colour": "c"}, "colour"),
        ({"key": 7, "title": "b"}, "key"),
        ({"key": "nope(a)", "title": "b", "job": "x" * 3000}, "job"),
    ],
)
def test_a_mapping_that_cannot_work_is_refused_at_its_field(mapping: dict[str, str], field: str):
    with pytest.raises(InvalidInput) as refused:
        check(mapping)
    assert refused.value.field == field


@pytest.mark.parametrize("kind", MAPPINGS)
def test_what_is_shipped_can_work(kind: str):
    check(MAPPINGS[kind])


@given(body=JSON, kind=st.sampled_from(sorted(MAPPINGS)))
def test_any_message_is_read_or_refused(body: object, kind: str):
    try:
        found = read(MAPPINGS[kind], body)
    except InvalidInput:
        return
    assert all(alert.key and len(alert.title) <= 300 for alert in found)
