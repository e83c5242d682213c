"""Addresses of hosts that handed in nothing."""

from diagnosis.triage.addresses import left_over
from tests.diagnosis.triage.judged import judged, placed

TOLD = {"10.20.0.2": "node-01", "10.20.0.3": "node-02"}
HOSTS = ("node-01", "node-02", "node-03")


def test_the_one_unknown_address_is_the_one_silent_hosts():
    assert left_over(TOLD, ["10.20.0.4", "10.20.0.2"], HOSTS) == {"10.20.0.4": "node-03"}


def test_two_silent_hosts_or_two_unknown_addresses_tell_nothing():
    assert left_over(TOLD, ["10.20.0.4"], (*HOSTS, "node-04")) == {}
    assert left_over(TOLD, ["10.20.0.4", "10.20.0.5"], HOSTS) == {}


def test_an_address_of_another_network_may_be_a_rail_of_anyone():
    assert left_over(TOLD, ["10.90.0.4"], HOSTS) == {}


def test_a_silent_host_is_named_where_its_peers_know_its_address_alone():
    failed = (
        "NCCL WARN NET/IB : Got completion from peer 10.20.0.4<5000> with status=12 opcode=0 "
        "len=0 vendor err 129"
    )
    files = {
        f"rank-{8 * number}.log": (
            f"node-0{number + 1}:4711:4711 [0] NCCL INFO Bootstrap : Using eth0:10.20.0."
            f"{number + 2}<0>\nnode-0{number + 1}:4711:4800 [0] {failed}\n"
        )
        for number in range(2)
    }
    said = judged(files, placement=placed(3))
    assert said.suspects[0].target.host == "node-03"
