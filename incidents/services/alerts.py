"""What an alert comes to: it opens or joins the right incident, and its end closes rightly."""

from collections.abc import Sequence

from django.db.models import Q
from django.utils import timezone

from incidents.alert_mapping import AlertData
from incidents.choices import OPEN_STATUSES, AlertAction, IncidentStatus, Resolution
from incidents.hostnames import is_address, is_plain_name, normalise_host
from incidents.models import Alert, Attempt, Cluster, Host, Inbox, Incident, Recommendation
from incidents.roles import Actor
from incidents.services import incidents, topology
from incidents.services.events import record
from incidents.services.opening import open_incident

#: What ends a key that stands for all keys before it.
_ALL = "/*"


def take(*, actor: Actor, inbox: Inbox, data: AlertData) -> Alert | None:
    """Takes one alert in, inside the caller's transaction. The same alert again changes nothing."""
    if data.action == AlertAction.RESOLVE:
        return _end(actor, inbox, data)
    alert = _firing(inbox, data)
    if alert is not None and data.action == AlertAction.ACKNOWLEDGE:
        _acknowledge(actor, alert)
    if alert is not None or data.action == AlertAction.ACKNOWLEDGE:
        return alert
    if _is_old_news(inbox, data):
        return None
    return _begin(actor, inbox, data)


def _firing(inbox: Inbox, data: AlertData) -> Alert | None:
    """The alert that fires already. One that began earlier has ended without a word."""
    known = inbox.alerts.filter(key=data.key, ended_at=None).select_related("incident").first()
    if known is None:
        return None
    if data.tells_start and _began_after(data, known):
        known.ended_at = data.started_at
        known.save(update_fields=["ended_at"])
        return None
    known.last_seen_at = timezone.now()
    known.save(update_fields=["last_seen_at"])
    return known


def _began_after(data: AlertData, alert: Alert) -> bool:
    began, known = data.started_at, alert.started_at
    return began is not None and known is not None and began > known


def _began_before(data: AlertData, alert: Alert) -> bool:
    began, known = data.started_at, alert.started_at
    return began is not None and known is not None and began < known


def _is_old_news(inbox: Inbox, data: AlertData) -> bool:
    """Whether this very alert, or a later one of its key, has ended already."""
    if data.started_at is None:
        return False
    return inbox.alerts.filter(key=data.key, started_at__gte=data.started_at).exists()


def _begin(actor: Actor, inbox: Inbox, data: AlertData) -> Alert:
    cluster = _cluster(inbox, data)
    hosts = _hosts(cluster, data)
    attempt = _attempt(cluster, data.job, hosts)
    into = None if attempt else _open_on(cluster, hosts)
    incident, opened = open_incident(
        actor=actor,
        title=data.title,
        kind=data.kind,
        severity=data.severity,
        source=inbox.name,
        dedup_key=_dedup_key(inbox, cluster, data, hosts) if attempt is None else "",
        attempt=attempt,
        hosts=hosts,
        cluster=cluster.name,
        onset_at=data.started_at,
        into=into,
    )
    return Alert.objects.create(
        inbox=inbox,
        key=data.key,
        title=data.title,
        incident=incident,
        opened=opened,
        started_at=data.started_at,
    )


def _cluster(inbox: Inbox, data: AlertData) -> Cluster:
    """The cluster that the alert names, or its inbox, or the only one that has its job or host."""
    if data.cluster or inbox.cluster:
        return topology.cluster_named(data.cluster) if data.cluster else _given(inbox)
    names = [normalise_host(name) for name in (*data.hosts, *data.known_hosts)]
    known = Q(hosts__normalised_name__in=names)
    if data.job:
        known |= Q(jobs__external_id=data.job)
    found = list(Cluster.objects.filter(known).distinct()[:2])
    return found[0] if len(found) == 1 else topology.cluster_named("")


def _given(inbox: Inbox) -> Cluster:
    assert inbox.cluster is not None  # noqa: S101 - asked by the caller
    return inbox.cluster


def _hosts(cluster: Cluster, data: AlertData) -> list[str]:
    """The hosts that an alert names. A bare address is a host only where it is registered."""
    sure = [
        name for name in data.hosts if is_plain_name(normalise_host(name)) and not is_address(name)
    ]
    unsure = [name for name in (*data.hosts, *data.known_hosts) if name not in sure]
    wanted = {normalise_host(name) for name in unsure}
    known = Host.objects.filter(cluster=cluster, normalised_name__in=wanted)
    return [*sure, *known.values_list("name", flat=True)]


def _attempt(cluster: Cluster, job: str, hosts: Sequence[str]) -> Attempt | None:
    """The job's running attempt, else its last one; else the one attempt that runs on the hosts."""
    attempts = Attempt.objects.filter(job__cluster=cluster).select_related("job__cluster")
    if job:
        of_job = attempts.filter(job__external_id=job)
        running = of_job.filter(ended_at=None)
        if found := running.order_by("-number").first() or of_job.order_by("-number").first():
            return found
    names = {normalise_host(name) for name in hosts}
    on_hosts = attempts.filter(ended_at=None, hosts__normalised_name__in=names)
    few = list(on_hosts.distinct()[:2])
    return few[0] if len(few) == 1 else None


def _open_on(cluster: Cluster, hosts: Sequence[str]) -> Incident | None:
    """The newest open incident of the cluster that names one of the hosts."""
    names = {normalise_host(name) for name in hosts}
    named = Incident.objects.filter(cluster=cluster, hosts__normalised_name__in=names)
    return named.filter(status__in=OPEN_STATUSES).order_by("-id").first()


def _dedup_key(inbox: Inbox, cluster: Cluster, data: AlertData, hosts: Sequence[str]) -> str:
    """One open incident a host; what names no host stands alone."""
    if hosts:
        return f"host:{cluster.name}/{normalise_host(hosts[0])}"[:255]
    return f"alert:{inbox.name}/{data.key}"[:255]


def _acknowledge(actor: Actor, alert: Alert) -> None:
    incident = alert.incident
    if incident is not None and incident.status == IncidentStatus.TRIGGERED:
        incidents.acknowledge(actor=actor, incident=incident)


def _end(actor: Actor, inbox: Inbox, data: AlertData) -> Alert | None:
    firing = inbox.alerts.filter(ended_at=None).select_related("incident")
    if data.key.endswith(_ALL):
        ended = list(firing.filter(key__startswith=data.key.removesuffix("*")))
    else:
        ended = list(firing.filter(key=data.key))
    for alert in ended:
        if data.tells_start and _began_before(data, alert):
            continue  # the end of an earlier firing came late
        alert.ended_at = data.ended_at or timezone.now()
        alert.save(update_fields=["ended_at"])
        if alert.incident is not None and alert.incident.is_open:
            _ended(actor, alert, alert.incident)
    return ended[0] if ended else None


def _ended(actor: Actor, alert: Alert, incident: Incident) -> None:
    still = incident.alerts.filter(ended_at=None).count()
    reason = _stays_open(incident, actor) if not still else f"{still} more alerts fire"
    record(
        actor=actor,
        verb="alert.ended",
        text=f"Alert ended: {alert.title}" + (f" (stays open: {reason})" if reason else ""),
        incident=incident,
        data={"alert": alert.pk, "still_firing": still},
    )
    if not reason:
        incidents.resolve(
            actor=actor,
            incident=incident,
            resolution=Resolution.RECOVERED,
            note=f"Every alert of {alert.inbox} has ended.",
        )


def _stays_open(incident: Incident, actor: Actor) -> str:
    """Why an incident whose alerts have all ended waits for a person; empty where it does not.

    A part that fell off its bus stops to report: silence is no repair.
    """
    if not incident.alerts.filter(opened=True).exists():
        return "no alert opened it"
    if incident.status != IncidentStatus.TRIGGERED:
        return "someone works on it"
    if incident.evidence.exists():
        return "evidence was handed in"
    if incident.events.filter(verb="incident.joined").exclude(actor=actor.label).exists():
        return "others reported it as well"
    if Recommendation.objects.filter(diagnosis__incident=incident).exclude(action="none").exists():
        return "a diagnosis recommends something"
    return ""
