"""The obvious scheme of offline diagnosis, to compare with: ToR groups, then halves, each twice."""

from collections.abc import Sequence

from diagnosis.simulator.offline_clusters import SimulatedCluster


def obvious_rounds(cluster: SimulatedCluster) -> tuple[set[str], int]:
    """The hosts that it names, and its rounds. Every ToR group runs side by side, twice; then the
    two halves of what failed, twice, until single hosts are left.
    """
    by_tor: dict[tuple[str, ...], list[str]] = {}
    for host in cluster.topology.hosts:
        by_tor.setdefault(host.tors, []).append(host.name)
    failing, rounds = _failing(cluster, list(by_tor.values())), 2
    named: set[str] = set()
    while failing:
        named |= {group[0] for group in failing if len(group) == 1}
        groups = [group for group in failing if len(group) > 1]
        if not groups:
            break
        halves = [half for group in groups for half in _halves(group)]
        failing, rounds = _failing(cluster, halves), rounds + 2
    return named, rounds


def _halves(group: Sequence[str]) -> list[list[str]]:
    middle = len(group) // 2
    return [list(group[:middle]), list(group[middle:])]


def _failing(cluster: SimulatedCluster, groups: list[list[str]]) -> list[list[str]]:
    first, again = cluster.answers(groups), cluster.answers(groups)
    return [group for group, *passed in zip(groups, first, again, strict=True) if not all(passed)]
