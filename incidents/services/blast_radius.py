"""The guard before many isolations at once: beyond a limit, going on needs a second word.

Many hosts that are condemned within an hour usually share a cause that isolating does not mend: a
switch, a row of power, an update, or a bad rule.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from incidents.choices import Action, DecisionKind, HostState
from incidents.exceptions import TooManyIsolations
from incidents.hostnames import normalise_host
from incidents.models import Cluster, Decision, Event, Host

#: Decisions that take a host out.
ISOLATES = Q(kind=DecisionKind.ACCEPT, recommendation__action=Action.ISOLATE_HOST) | Q(
    kind=DecisionKind.CHANGE, changed_action=Action.ISOLATE_HOST
)
#: Hosts that the question names one by one.
_NAMES = 8


@dataclass(frozen=True, slots=True)
class BlastRadius:
    """The hosts of a cluster that are out, or decided to be taken out, within the window.

    `hosts` by normalised name, the one at hand last; `known` counts the cluster's hosts. A share
    of a cluster of which hardly anything is registered says nothing, so there it does not count.
    """

    cluster: str
    hosts: Sequence[str]
    known: int
    is_new: bool

    @property
    def limit(self) -> str:
        """The limit that is passed, in words; empty within the limits."""
        count = len(self.hosts)
        share = 100 * count / self.known if self.known else 0.0
        tells = self.known >= settings.ISOLATION_SHARE_FROM_HOSTS
        if not self.is_new or count < 2:
            return ""
        if count > settings.ISOLATION_MAX_HOSTS:
            most = settings.ISOLATION_MAX_HOSTS
            return f"more than {most} host{'s' if most != 1 else ''}"
        if tells and share > settings.ISOLATION_MAX_PERCENT:
            return f"{share:.0f} % of its {self.known} hosts"
        return ""

    @property
    def words(self) -> str:
        """Which hosts, in how long, beyond which limit."""
        count = len(self.hosts)
        shown = ", ".join(self.hosts[-_NAMES:])
        more = f" and {count - _NAMES} more" if count > _NAMES else ""
        return (
            f"host {count} that is taken out of {self.cluster} within "
            f"{settings.ISOLATION_WINDOW_MINUTES} min, {self.limit}: {shown}{more}."
        )

    @property
    def question(self) -> str:
        """Why someone should look again; empty within the limits."""
        if not self.limit:
            return ""
        return (
            f"This would be {self.words} So many at once usually share a cause that isolating "
            "does not mend: a switch, power, an update, or a bad rule. Look again, then confirm "
            "to go on."
        )


def blast_radius(cluster: Cluster, host: str, now: datetime | None = None) -> BlastRadius:
    """How far it has gone, with one host more."""
    since = (now or timezone.now()) - timedelta(minutes=settings.ISOLATION_WINDOW_MINUTES)
    out = dict.fromkeys([*_decided(cluster, since), *_noted(cluster, since)])
    name = normalise_host(host)
    hosts = [one for one in out if one != name]
    return BlastRadius(
        cluster=cluster.name,
        hosts=[*hosts, name],
        known=Host.objects.filter(cluster=cluster).count(),
        is_new=name not in out,
    )


def guard(cluster: Cluster, host: str, *, confirmed: bool) -> BlastRadius | None:
    """The radius where a host is taken out beyond the limits, which someone confirmed; else None.

    Raises `TooManyIsolations` with the question where nobody did. Two people who decide at one
    moment are counted one after the other.
    """
    Cluster.objects.select_for_update().get(pk=cluster.pk)
    radius = blast_radius(cluster, host)
    if not radius.question:
        return None
    if not confirmed:
        raise TooManyIsolations(radius.question)
    return radius


def guard_run(cluster: Cluster, host: str, *, confirmed: bool) -> None:
    """Raises `TooManyIsolations` before a command takes a host out beyond the limits.

    That its isolation was decided does not answer it: many decisions may wait to be carried out.
    """
    Cluster.objects.select_for_update().get(pk=cluster.pk)
    question = question_before(cluster, host)
    if question and not confirmed:
        raise TooManyIsolations(question)


def question_before(cluster: Cluster, host: str) -> str:
    """Why someone should look again before a command takes the host out; empty within limits."""
    return replace(blast_radius(cluster, host), is_new=True).question


def _decided(cluster: Cluster, since: datetime) -> list[str]:
    """Hosts whose isolation was decided since then and not taken back."""
    found = Decision.objects.filter(
        ISOLATES,
        standing=True,
        decided_at__gte=since,
        recommendation__diagnosis__incident__cluster=cluster,
    ).order_by("decided_at", "id")
    rows = found.values_list("changed_target", "recommendation__target_host")
    return [normalise_host(changed or host) for changed, host in rows if changed or host]


def _noted(cluster: Cluster, since: datetime) -> list[str]:
    """Hosts that were noted as isolated since then, and still are."""
    events = Event.objects.filter(
        verb="host.state",
        time__gte=since,
        host__cluster=cluster,
        host__state=HostState.ISOLATED,
        data__state=HostState.ISOLATED,
    )
    return list(events.order_by("id").values_list("host__normalised_name", flat=True))
