"""Reads of ticket systems, and of what a ticket about an incident says."""

from collections.abc import Mapping

from django.conf import settings
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from incidents.choices import DeliveryState, SubscriptionState, TicketState
from incidents.commands import commands_for
from incidents.models import Incident, TicketConnector, WebhookDelivery
from incidents.reach import EVERYWHERE, within
from incidents.selectors.records import latest_finished


def connectors() -> QuerySet[TicketConnector]:
    """Every ticket system with how many messages wait for it, by name."""
    waiting = WebhookDelivery.objects.filter(
        subscription=OuterRef("pk"), state=DeliveryState.WAITING
    )
    counted = waiting.order_by().values("subscription").annotate(found=Count("pk")).values("found")
    return (
        TicketConnector.objects.select_related("cluster")
        .annotate(waiting_count=Coalesce(Subquery(counted), 0))
        .order_by("name")
    )


def connectors_for(incident: Incident) -> list[TicketConnector]:
    """The active ticket systems of the incident's cluster and of all clusters, by name.

    However far someone reaches: a system of all clusters is for this one as well.
    """
    with within(EVERYWHERE):
        found = TicketConnector.objects.filter(
            Q(cluster=None) | Q(cluster=incident.cluster_id), state=SubscriptionState.ACTIVE
        )
        return list(found.order_by("name"))


def connectors_offered(incident: Incident) -> list[TicketConnector]:
    """The ticket systems in which a ticket about the incident can be opened now."""
    known = incident.tickets.exclude(state=TicketState.REFUSED).values_list("connector", flat=True)
    taken = set(known)
    return [one for one in connectors_for(incident) if one.pk not in taken]


def ticket_values(incident: Incident) -> Mapping[str, str]:
    """What the templates of a ticket may name (`incidents.ticket_text`)."""
    answer = latest_finished(incident)
    advice = list(answer.recommendations.all()) if answer else []
    commands = [
        command
        for one in advice
        for command in commands_for(
            one.action, host=one.target_host, reference=incident.reference
        ).values()
    ]
    job = incident.job
    return {
        "reference": incident.reference,
        "title": incident.title,
        "severity": incident.get_severity_display(),
        "kind": incident.get_kind_display(),
        "status": incident.get_status_display(),
        "cluster": incident.cluster.name,
        "job": f"{job.name} {job.external_id}".strip() if job else "",
        "owner": job.owner if job else "",
        "hosts": ", ".join(host.name for host in incident.hosts.all()[:50]),
        "answer": answer.summary if answer else "",
        "confidence": f"{answer.confidence:.0%}"
        if answer and answer.confidence is not None
        else "",
        "recommended": "; ".join(str(one) for one in advice),
        "commands": "\n".join(commands),
        "opened": incident.opened_at.strftime("%Y-%m-%d %H:%M UTC"),
        "url": f"{settings.PUBLIC_URL}/incidents/{incident.pk}",
    }
