"""Finding or registering clusters and hosts by name."""

from collections.abc import Iterable, Mapping

from django.db import transaction
from django.db.models import QuerySet

from incidents.exceptions import InvalidInput
from incidents.hostnames import normalise_host
from incidents.models import Cluster, Host
from incidents.reach import current
from incidents.roles import Actor, Capability
from incidents.services.events import record

#: The cluster of whatever names none.
DEFAULT_CLUSTER = "default"
#: Hosts that a refusal names one by one.
_NAMES = 20


def cluster_named(name: str) -> Cluster:
    """The cluster of this name, registered where it is new. Raises `NotAllowed` out of reach."""
    wanted = name.strip() or DEFAULT_CLUSTER
    current().require_cluster(wanted)
    return Cluster.objects.get_or_create(name=wanted)[0]


def cluster_of(name: str, hosts: Iterable[str]) -> Cluster:
    """The cluster of this name; where none is given, the one that alone knows all of these hosts.

    Else the default one. Raises `NotAllowed` out of reach.
    """
    names = {normalise_host(host) for host in hosts}
    if name.strip() or not names:
        return cluster_named(name)
    found = Host.objects.filter(normalised_name__in=names).select_related("cluster")
    clusters = {host.cluster for host in found}
    is_sure = len(clusters) == 1 and len(found) == len(names)
    return clusters.pop() if is_sure else cluster_named(name)


def hosts_named(cluster: Cluster, names: Iterable[str]) -> Mapping[str, Host]:
    """Normalised name → host, for every name; hosts that are new are registered."""
    given: dict[str, str] = {}
    for name in names:
        given.setdefault(normalise_host(name), name)
    if "" in given:
        raise InvalidInput("A host needs a name.", field="host")
    known = set(_in(cluster, given).values_list("normalised_name", flat=True))
    Host.objects.bulk_create(
        [Host.named(cluster, name) for key, name in given.items() if key not in known],
        ignore_conflicts=True,
    )
    return {host.normalised_name: host for host in _in(cluster, given)}


def known_hosts(cluster: Cluster, names: Iterable[str]) -> Mapping[str, Host]:
    """Normalised name → host. Raises `InvalidInput` naming those that the cluster does not have."""
    given = {normalise_host(name): name for name in names}
    found = {host.normalised_name: host for host in _in(cluster, given)}
    if missing := [name for key, name in given.items() if key not in found]:
        more = f" and {len(missing) - _NAMES} more" if len(missing) > _NAMES else ""
        raise InvalidInput(
            f"Not registered in cluster {cluster}: {', '.join(missing[:_NAMES])}{more}. Start "
            "tools/check-runner there, give their places (POST /api/v1/topology), or name the "
            "cluster that has them.",
            field="hosts",
        )
    return found


def _in(cluster: Cluster, normalised: Iterable[str]) -> QuerySet[Host]:
    return Host.objects.filter(cluster=cluster, normalised_name__in=list(normalised))


@transaction.atomic
def place_hosts(*, actor: Actor, cluster: str, places: Mapping[str, tuple[str, str]]) -> int:
    """Says in which pod and under which ToR each named host is; hosts that are new are registered.

    Gives how many hosts have moved or are new. Raises `NotAllowed` out of reach, and `InvalidInput`
    for a cluster that is not there.
    """
    actor.require(Capability.OPERATE)
    _require_known(cluster)
    place = cluster_named(cluster)
    found = hosts_named(place, places)
    moved = []
    for name, (pod, tor) in places.items():
        host = found[normalise_host(name)]
        if (host.pod, host.tor) != (pod[:100], tor[:100]):
            host.pod, host.tor = pod[:100], tor[:100]
            moved.append(host)
    Host.objects.bulk_update(moved, ["pod", "tor"], batch_size=500)
    if moved:
        record(
            actor=actor,
            verb="hosts.placed",
            text=f"{len(moved)} of {len(places)} hosts of {place} got another pod or ToR",
            data={"cluster": place.name, "hosts": sorted(host.name for host in moved)[:50]},
        )
    return len(moved)


def _require_known(cluster: str) -> None:
    """A cluster that is misspelt must not become a second one with the same hosts."""
    name = cluster.strip()
    current().require_cluster(name or DEFAULT_CLUSTER)
    if name and name != DEFAULT_CLUSTER and not Cluster.objects.filter(name=name).exists():
        raise InvalidInput(
            f"There is no cluster '{name}'. Add it under Settings → Clusters, or register a job "
            "of it first.",
            field="cluster",
        )
