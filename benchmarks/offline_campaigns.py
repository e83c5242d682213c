"""The offline planner played against simulated clusters, and what came of it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from diagnosis.core.diagnosis import Suspect
from diagnosis.core.words import Role
from diagnosis.offline.history import Purpose, Round
from diagnosis.offline.layout import Layout
from diagnosis.offline.planner import Planner
from diagnosis.offline.verdict import Judge
from diagnosis.simulator.offline_clusters import PlantedFault, SimulatedCluster, simulated_cluster


@dataclass(frozen=True)
class Campaign:
    """One cluster, diagnosed. `rounds` leaves the round across everything out."""

    cluster: SimulatedCluster
    right: bool
    rounds: int
    contended: int


def campaigns(
    kind: str, number: int, *, miss: float = 0.0, seed: int, largest: int = 4096
) -> Iterator[Campaign]:
    for case in range(number):
        rng = np.random.default_rng([seed, case])
        yield diagnosed(simulated_cluster(kind, rng, miss=miss, largest=largest))


def diagnosed(cluster: SimulatedCluster) -> Campaign:
    layout = Layout.of(cluster.topology)
    planner, contended = Planner.of(layout), 0
    while (asked := planner.next_round()) is not None:
        contended += contends(layout, asked)
        planner = planner.answered(asked, cluster.answers(asked.names(layout)))
    rounds = [one.round.purpose for one in planner.history.rounds]
    right = is_right(cluster.fault, Judge(planner).answer().suspects)
    counted = sum(purpose != Purpose.AGGREGATION for purpose in rounds)
    return Campaign(cluster, right, counted, contended)


def contends(layout: Layout, asked: Round) -> bool:
    """Whether two groups share a host or an uplink; written without the planner's own check."""
    taken: set[tuple[str, str]] = set()
    for group in asked.groups:
        hosts = [layout.names[host] for host in group.tolist()]
        tors = {layout.blocks[layout.block[host]].tors for host in group}
        pods = {layout.pods[layout.pod[host]] for host in group}
        used = {("host", name) for name in hosts}
        used |= {("tor", name) for names in tors for name in names} if len(tors) > 1 else set()
        used |= {("pod", name) for name in pods} if len(pods) > 1 else set()
        if len(used & taken) or len(set(hosts)) < len(hosts):
            return True
        taken |= used
    return False


def is_right(fault: PlantedFault, suspects: tuple[Suspect, ...]) -> bool:
    """Exactly the planted fault is named as culprit; a ToR with those that share its hosts."""
    named = {
        (one.target.kind.value, *sorted(filter(None, (one.target.name, one.target.peer))))
        for one in suspects
        if one.role == Role.CULPRIT
    }
    wanted = {
        "host": {("host", name) for name in fault.hosts},
        "two-hosts": {("host", name) for name in fault.hosts},
        "pair": {("link", *sorted(fault.hosts))},
        "tor": {("switch", tor) for tor in fault.tors},
        "aggregation": {("switch", "aggregation")},
    }
    return named == wanted[fault.kind]
