"""Every kind of log that people have at hand leads to the fault in it, on the right host."""

from typing import Any

import orjson
import pytest

from tests.diagnosis.triage.judged import isolated, judged

XID = "NVRM: Xid (PCI:0000:9b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."


def lines(*rows: dict[str, Any]) -> str:
    return "".join(orjson.dumps(row).decode() + "\n" for row in rows)


JOURNAL = lines(
    {
        "__REALTIME_TIMESTAMP": "1741053600000000", "_HOSTNAME": "node-017",
        "SYSLOG_IDENTIFIER": "systemd", "MESSAGE": "Started Session 12 of User root.",
    },
    {
        "__REALTIME_TIMESTAMP": "1741053601500000", "_HOSTNAME": "node-017", "PRIORITY": "3",
        "SYSLOG_IDENTIFIER": "kernel", "_TRANSPORT": "kernel", "MESSAGE": XID,
    },
)  # fmt: skip
JOURNAL_OF_BYTES = lines(
    {
        "__REALTIME_TIMESTAMP": "1741053601500000", "_HOSTNAME": "node-017",
        "SYSLOG_IDENTIFIER": "kernel", "MESSAGE": list(XID.encode() + b"\x1b[0m"),
    }
)  # fmt: skip
CRI = "".join(
    f"2025-03-04T02:00:0{second}.123456789Z stdout F [rank{second}]: step {second}\n"
    for second in range(3)
) + (
    "2025-03-04T02:00:04.5Z stderr F [rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to "
    "allocate 20.00 MiB\n"
)
KUBERNETES = lines(
    {
        "log": "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n",
        "stream": "stderr", "time": "2025-03-04T02:00:04.5Z",
        "kubernetes": {"pod_name": "train-worker-0", "host": "node-017", "container_name": "t"},
    }
)  # fmt: skip
KUBERNETES_EVENT = lines(
    {
        "time": "2025-03-04T02:00:00Z", "node": "node-017", "reason": "NodeNotReady",
        "message": "Node node-017 status is now: NodeNotReady",
    }
)  # fmt: skip
SEL = (
    "   1 | 03/04/2025 | 01:59:58 | Event Logging Disabled #0x72 | Log area reset | Asserted\n"
    "   2 | 03/04/2025 | 02:00:01 | Power Supply #0x61 | Power Supply AC lost | Asserted\n"
    "   3 | 03/04/2025 | 02:00:02 | Fan #0x41 | Lower Critical going low  | Asserted\n"
)
SONIC = (
    "Mar  4 02:00:01.123456 tor-3 NOTICE swss#orchagent: :- updatePortOperStatus: "
    "Port Ethernet12 oper state set from up to down\n"
)
NEXUS = (
    "2025 Mar  4 02:00:01 tor-3 %ETHPORT-5-IF_DOWN_LINK_FAILURE: Interface Ethernet1/12 is down "
    "(Link failure)\n"
)


@pytest.mark.parametrize("text", [JOURNAL, JOURNAL_OF_BYTES], ids=["journal", "journal with bytes"])
def test_a_journal_in_json_condemns_its_own_host(text: str) -> None:
    assert isolated(judged({"journal.json": text})) == ["node-017"]


def test_a_journal_line_keeps_its_time_and_its_place_in_the_file() -> None:
    (finding, *_) = judged({"journal.json": JOURNAL}).suspects[0].findings
    assert (finding.time, finding.locator and finding.locator["line"]) == (1741053601.5, 2)


@pytest.mark.parametrize("text", [CRI, KUBERNETES], ids=["CRI", "JSON"])
def test_a_containers_log_tells_the_rank_that_ran_out_of_memory(text: str) -> None:
    found = judged({"pod.log": text})
    assert (found.verdict.cls.value, found.suspects[0].target.rank) == ("user", 3)
    assert isolated(found) == []


def test_a_node_that_left_the_cluster_is_named() -> None:
    assert judged({"events.json": KUBERNETES_EVENT}).suspects[0].target.host == "node-017"


def test_a_bmcs_event_log_speaks_for_the_host_that_its_file_names() -> None:
    found = judged({"node-017.sel.log": SEL})
    assert found.suspects[0].target.host == "node-017"
    assert found.verdict.cls.value == "critical"


@pytest.mark.parametrize("text", [SONIC, NEXUS], ids=["SONiC", "NX-OS"])
def test_a_switch_port_that_fell_is_a_link_to_check_and_isolates_nobody(text: str) -> None:
    found = judged({"tor-3.syslog.log": text})
    target = found.suspects[0].target
    assert (target.kind.value in {"link", "switch"}, "12" in (target.name or "")) == (True, True)
    assert isolated(found) == []
