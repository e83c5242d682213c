"""Ping matrices, topologies and configuration snapshots reach the diagnosis."""

import orjson

from diagnosis.core.evidence import Evidence
from diagnosis.core.topology import HostWiring, Topology
from diagnosis.engine import diagnose
from tests.diagnosis.readers.logs_evidence import log
from tests.diagnosis.triage.judged import timeout_line

HOSTS = [f"node-{number:02d}" for number in range(1, 9)]
TOPOLOGY = {
    "hosts": [
        {"name": host, "pod": "p1", "tor": [f"tor-{index // 4 + 1}"]}
        for index, host in enumerate(HOSTS)
    ]
}
BELOW = set(HOSTS[:4])


def mesh() -> Evidence:
    rows = [
        f"2025-03-04T02:00:00Z,{one},{other},4096,1000,{80 if {one, other} & BELOW else 0},9,15"
        for one in HOSTS
        for other in HOSTS
        if one != other
    ]
    head = "time,src,dst,size_bytes,sent,lost,rtt_p50_us,rtt_p99_us"
    return log("\n".join([head, *rows]) + "\n", "mesh.csv")


def hang() -> Evidence:
    return log("".join(timeout_line(rank) for rank in range(8)), "train.log")


def test_a_topology_among_the_evidence_leads_from_bad_pairs_to_their_switch() -> None:
    topology = log(orjson.dumps(TOPOLOGY).decode(), "topology.json")
    answer = diagnose([hang(), mesh(), topology])
    assert (answer.suspects[0].target.name, answer.skipped) == ("tor-1", ())


def test_a_topology_that_is_handed_in_wins() -> None:
    one_tor = Topology(tuple(HostWiring(host, "p1", ("other",)) for host in HOSTS))
    topology = log(orjson.dumps(TOPOLOGY).decode(), "topology.json")
    answer = diagnose([mesh(), topology], topology=one_tor)
    assert "tor-1" not in {suspect.target.name for suspect in answer.suspects}


def test_a_snapshot_that_differs_where_the_logs_complain_is_the_verdict() -> None:
    snapshots = [
        log(
            orjson.dumps(
                {"host": host, "values": {"mtu.mlx5_0": "1024" if host == "node-05" else "4200"}}
            ).decode(),
            f"{host}.json",
        )
        for host in HOSTS
    ]
    answer = diagnose([hang(), *snapshots])
    assert (answer.verdict.cls.value, answer.suspects[0].target.host) == ("config", "node-05")


def test_a_bad_matrix_is_skipped_with_its_reason() -> None:
    answer = diagnose([hang(), log("src,dst,sent,lost\na,b,1,2\n", "mesh.csv")])
    assert [(item.file, item.reason) for item in answer.skipped] == [
        ("mesh.csv", "ping matrix line 2: 2 lost of 1 sent")
    ]


def test_a_fan_out_without_a_cause_is_handed_over_to_offline_diagnosis() -> None:
    actions = {item.action.value: item for item in diagnose([hang()]).recommendations}
    assert "self-check and split" in actions["run-offline"].reason
