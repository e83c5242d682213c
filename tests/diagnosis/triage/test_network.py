"""NetDiag on matrices with a planted fault: the part is named, and what that rests on."""

from collections.abc import Callable
from itertools import permutations

import pytest

from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.pings import End, Probe
from diagnosis.core.topology import HostWiring, Topology
from diagnosis.triage.network import conclude_network
from diagnosis.triage.settings import TriageSettings
from tests.diagnosis.triage.judged import isolated

HOSTS = tuple(f"node-{number:02d}" for number in range(1, 17))
TOPOLOGY = Topology(
    tuple(
        HostWiring(
            host,
            pod=f"pod-{index // 8 + 1}",
            tors=(f"tor-{index // 4 + 1}a", f"tor-{index // 4 + 1}b"),
            rails={"mlx5_0": f"tor-{index // 4 + 1}a", "mlx5_1": f"tor-{index // 4 + 1}b"},
        )
        for index, host in enumerate(HOSTS)
    )
)
Fault = Callable[[End, End, int], bool]


def matrix(
    is_bad: Fault, *, sizes: tuple[int, ...] = (64, 4096), nics: tuple[str, ...] = ("mlx5_0",)
) -> list[Probe]:
    probes = []
    for number, (one, other) in enumerate(permutations(HOSTS, 2)):
        for nic in nics:
            for size in sizes:
                source, target = End(one, nic), End(other, nic)
                bad = is_bad(source, target, size)
                far = 4.0 if HOSTS.index(one) // 4 != HOSTS.index(other) // 4 else 0.0
                probes.append(
                    Probe(
                        source, target, size, 1000, 60 if bad else 0, 8 + far, 14 + far,
                        "2025-03-04T02:00:00Z", "mesh.csv", number + 2,
                    )
                )  # fmt: skip
    return probes


def concluded(probes: list[Probe], topology: Topology = TOPOLOGY) -> Conclusion:
    found = conclude_network(probes, topology, TriageSettings())
    assert found is not None
    return found


def touches(host: str, nic: str | None = None) -> Fault:
    return lambda one, other, _: any(
        end.host == host and nic in {None, end.nic} for end in (one, other)
    )


def test_a_host_that_all_its_pairs_lose_is_isolated() -> None:
    found = concluded(matrix(touches("node-07"), nics=("mlx5_0", "mlx5_1")))
    assert (isolated(found), found.suspects[0].role.value) == (["node-07"], "culprit")


def test_one_nic_of_a_host_is_a_link_to_check_and_nobody_is_isolated() -> None:
    found = concluded(matrix(touches("node-07", "mlx5_1"), nics=("mlx5_0", "mlx5_1")))
    assert (found.suspects[0].target.name, isolated(found)) == ("node-07/mlx5_1", [])


def test_a_tor_switch_is_named_where_all_below_it_suffer() -> None:
    below = set(HOSTS[4:8])
    found = concluded(matrix(lambda one, other, _: bool({one.host, other.host} & below)))
    assert (found.suspects[0].target.kind.value, found.suspects[0].target.name) == (
        "switch",
        "tor-2a",
    )
    assert isolated(found) == []


def test_an_uplink_is_named_where_only_probes_that_leave_the_tor_suffer() -> None:
    below = set(HOSTS[4:8])
    found = concluded(matrix(lambda one, other, _: len({one.host, other.host} & below) == 1))
    assert found.suspects[0].target.name == "tor-2a/uplink"


def test_a_fault_between_pods_is_seen() -> None:
    first = set(HOSTS[:8])
    found = concluded(matrix(lambda one, other, _: (one.host in first) != (other.host in first)))
    assert "between pods pod-1 and pod-2" in found.verdict.summary


def test_loss_of_large_packets_alone_is_told_with_the_sizes() -> None:
    found = concluded(
        matrix(lambda one, other, size: size > 1024 and touches("node-03")(one, other, size))
    )
    assert "only with probes of 4096 bytes and more (64 pass)" in found.verdict.summary


def test_a_clean_matrix_of_small_probes_is_no_clean_network() -> None:
    found = concluded(matrix(lambda *_: False, sizes=(64,)))
    assert found.verdict.cls.value == "unknown"
    assert "would not show" in found.verdict.summary


def test_one_bad_pair_is_possible_and_isolates_nobody() -> None:
    pair = {"node-02", "node-11"}
    found = concluded(matrix(lambda one, other, _: {one.host, other.host} == pair))
    assert (found.suspects[0].role.value, isolated(found)) == ("possible", [])


def test_scattered_loss_names_nobody() -> None:
    found = concluded(
        matrix(
            lambda one, other, _: (HOSTS.index(one.host) * 5 + HOSTS.index(other.host) * 3) % 7 == 0
        )
    )
    assert (found.suspects, isolated(found)) == ((), [])


def test_slow_round_trips_are_a_degradation() -> None:
    probes = [
        Probe(p.source, p.target, p.size, p.sent, 0, 90.0, 200.0, p.time, p.file, p.line)
        if "node-05" in {p.source.host, p.target.host}
        else p
        for p in matrix(lambda *_: False)
    ]
    found = concluded(probes)
    assert (found.verdict.cls.value, found.suspects[0].target.host) == ("degradation", "node-05")


def test_without_a_topology_a_host_is_still_named_and_the_trace_says_so() -> None:
    found = concluded(matrix(touches("node-07"), nics=("mlx5_0", "mlx5_1")), Topology())
    assert found.suspects[0].target.host == "node-07"
    assert "no topology" in found.trace[0]


@pytest.mark.parametrize("fault", [touches("node-07"), touches("node-07", "mlx5_0")])
def test_the_order_of_the_rows_is_no_matter(fault: Fault) -> None:
    probes = matrix(fault, nics=("mlx5_0", "mlx5_1"))
    assert concluded(probes) == concluded(probes[::-1])
