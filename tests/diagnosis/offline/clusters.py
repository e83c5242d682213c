"""Small clusters and players for the planner's tests."""

from collections.abc import Callable, Sequence

from diagnosis.core.topology import HostWiring, Topology
from diagnosis.offline.layout import Layout
from diagnosis.offline.planner import Planner
from diagnosis.offline.verdict import Judge, OfflineAnswer

Group = Sequence[str]


def topology(pods: int = 2, tors: int = 4, hosts: int = 8) -> Topology:
    """Hosts `n-<pod>-<tor>-<host>` under `tor-<pod>-<tor>` in `pod-<pod>`."""
    return Topology(
        tuple(
            HostWiring(f"n-{pod}-{tor}-{host}", f"pod-{pod}", (f"tor-{pod}-{tor}",))
            for pod in range(pods)
            for tor in range(tors)
            for host in range(hosts)
        )
    )


def played(
    wired: Topology,
    passes: Callable[[Group], bool | None],
    suspects: Sequence[str] = (),
    rounds: int = 100,
) -> tuple[Planner, OfflineAnswer]:
    """The planner at the end of a diagnosis in which `passes` answers each group."""
    layout = Layout.of(wired, suspects)
    planner = Planner.of(layout)
    while len(planner.history.rounds) < rounds and (asked := planner.next_round()) is not None:
        planner = planner.answered(asked, [passes(group) for group in asked.names(layout)])
    return planner, Judge(planner).answer()


def culprits(answer: OfflineAnswer) -> list[str | None]:
    return [one.target.name for one in answer.suspects if one.role == "culprit"]
