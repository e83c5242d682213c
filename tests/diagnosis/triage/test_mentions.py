"""Hosts that lines name in their own words, where no prefix does."""

import pytest

from tests.diagnosis.triage.judged import isolated, judged

XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
NAMED = [
    "[node-003] {}",
    "[2026-03-04 01:00:00][node-003] {}",
    "2026-03-04 01:00:00 | node-003 | ERROR | {}",
    "2026-03-04 01:00:00,123 ERROR [node-003] healthcheck: {}",
    "2026-03-04 01:00:00,123 ERROR watcher: on node-003: {}",
    "2026-03-04T01:00:00Z,node-003,kernel,{}",
    'time=2026-03-04T01:00:00Z host=node-003 level=error msg="{}"',
    "[1,3]<stderr>: node-003: {}",
    '{{"@timestamp":"2026-03-04T01:00:00Z","host":{{"name":"node-003"}},"message":"{}"}}',
    '{{"@timestamp":"2026-03-04T01:00:00Z","agent":{{"hostname":"node-003"}},"message":"{}"}}',
]


@pytest.mark.parametrize("line", NAMED)
def test_a_host_in_the_line_is_the_one_to_isolate(line: str) -> None:
    assert isolated(judged({"all.log": line.format(XID) + "\n"})) == ["node-003"]


def test_lines_that_name_two_hosts_accuse_both() -> None:
    text = "".join(f"2026-03-04 01:00:0{n} [node-00{n}] {XID}\n" for n in (3, 4))
    assert isolated(judged({"all.log": text})) == ["node-003", "node-004"]


def test_the_name_of_the_file_stands_above_a_mention() -> None:
    assert isolated(judged({"node-007.dmesg.log": f"[node-003] {XID}\n"})) == ["node-007"]


@pytest.mark.parametrize("word", ["worker-3", "rank3", "gpu3", "Thread-12", "step100", "a1b2c3"])
def test_a_thread_a_rank_or_a_device_is_no_host(word: str) -> None:
    said = judged({"all.log": f"2026-03-04 01:00:00 ERROR [{word}] {XID}\n"})
    assert said.suspects[0].target.host is None


def test_the_peer_that_a_job_complains_of_is_not_its_host() -> None:
    line = "2026-03-04 01:00:00 ERROR CUDA out of memory while talking to (node-003)\n"
    assert judged({"all.log": line}).suspects[0].target.host is None
