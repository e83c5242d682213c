"""The one host that a command may take out: known for sure, and meant by its name alone."""

from incidents.choices import Action, DecisionKind
from incidents.exceptions import InvalidInput, TransitionRefused
from incidents.hostnames import is_plain_name, normalise_host
from incidents.models import Cluster, Decision, Event, Host, Recommendation
from incidents.reach import EVERYWHERE, within
from incidents.services.hosts import PASSED_CHECK

#: Events by which someone vouches for a host: the administration's, and a passed check.
_VOUCHING = ("host.added", "host.changed", PASSED_CHECK)


def decided_host(
    recommendation: Recommendation, *, in_one_cluster: bool = True
) -> tuple[Decision, str]:
    """The decision that stands and the name of the host that it takes out.

    `in_one_cluster`: no other cluster may have a host of that name, as the command names none.

    Raises `TransitionRefused` or `InvalidInput` where there is none, or where the name is not sure
    to be that machine's.
    """
    decision = recommendation.decisions.filter(standing=True).first()
    if decision is None or decision.kind == DecisionKind.REJECT:
        raise TransitionRefused("Nobody accepted this recommendation.")
    action = decision.changed_action or recommendation.action
    if action != Action.ISOLATE_HOST:
        raise TransitionRefused("Only the isolation of a host can be carried out.")
    named = decision.changed_target or recommendation.target_host
    host = _sure(recommendation.diagnosis.incident.cluster, named)
    if in_one_cluster:
        _require_in_one_cluster(host)
    return decision, host.name


def _sure(cluster: Cluster, named: str) -> Host:
    key = normalise_host(named)
    host = Host.objects.filter(cluster=cluster, normalised_name=key).first()
    if host is None or not is_plain_name(host.name):
        raise InvalidInput("This is no registered host with a plain name.", field="recommendation")
    if not is_vouched_for(host):
        raise TransitionRefused(
            f"Only reports told of {host} in cluster {cluster}: no job ran there, and it has no "
            "place in the topology. If it is that cluster's, register its job's placement or its "
            "pod (POST /api/v1/topology), or save it under Settings → Hosts; then plan again. "
            "Else correct the incident's job, or run the command by hand."
        )
    return host


def _require_in_one_cluster(host: Host) -> None:
    with within(EVERYWHERE):
        others = Host.objects.filter(normalised_name=host.normalised_name)
        elsewhere = others.exclude(cluster=host.cluster_id).exists()
    if elsewhere:
        raise TransitionRefused(
            f"Another cluster has a host {host} too, and the command does not say which is meant: "
            f"run it by hand on {host.cluster}, or have whoever runs this instance name "
            "{cluster} in the executor's command. Where the other one is no machine, rename it "
            "under Settings → Hosts and plan again."
        )


def is_vouched_for(host: Host) -> bool:
    """Whether something else than incidents told of it.

    That is a job's placement, its place in the topology, the administration, or a check that it
    passed.
    """
    return (
        bool(host.pod or host.tor)
        or host.placements.exists()
        or Event.objects.filter(host=host, verb__in=_VOUCHING).exists()
    )
