"""Finding or registering clusters and hosts by name."""

from collections.abc import Iterable, Mapping

from django.db.models import QuerySet

from incidents.exceptions import InvalidInput
from incidents.hostnames import normalise_host
from incidents.models import Cluster, Host

#: The cluster of whatever names none.
DEFAULT_CLUSTER = "default"


def cluster_named(name: str) -> Cluster:
    """The cluster of this name, registered where it is new."""
    return Cluster.objects.get_or_create(name=name.strip() or DEFAULT_CLUSTER)[0]


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


def _in(cluster: Cluster, normalised: Iterable[str]) -> QuerySet[Host]:
    return Host.objects.filter(cluster=cluster, normalised_name__in=list(normalised))
