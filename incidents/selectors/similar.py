"""Past incidents that look like one, and what ended them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q

from incidents.models import Decision, Incident
from incidents.selectors.merged import family_of
from incidents.selectors.records import incidents

#: What two incidents have in common, by field: how much it counts, and its words.
_ALIKE: Mapping[str, tuple[int, str]] = {
    "suspect_host": (3, "same host"),
    "fingerprint": (2, "same finding"),
    "suspect_fault": (2, "same fault"),
}
#: How many of the newest that share one thing are looked at, and how many are shown.
_LOOKED_AT, _SHOWN = 200, 5


@dataclass(frozen=True, slots=True)
class Likeness:
    """A past incident, why it is like this one, and the decisions that stand on it."""

    incident: Incident
    why: Sequence[str]
    decisions: Sequence[Decision]


def similar_incidents(incident: Incident) -> Sequence[Likeness]:
    """The incidents that share most with this one's newest answer: likest, then newest, first.

    Host, fault and fingerprint of the first suspect count; merged incidents are left out.
    """
    own = family_of(incident)
    points: dict[int, list[str]] = {}
    for field in _ALIKE:
        value = getattr(incident, field)
        if not value:
            continue
        found = Incident.objects.filter(Q(**{field: value}), merged_into=None).exclude(pk__in=own)
        if field == "suspect_host":
            found = found.filter(cluster=incident.cluster_id)
        for pk in found.order_by("-id").values_list("pk", flat=True)[:_LOOKED_AT]:
            points.setdefault(pk, []).append(field)
    best = sorted(points, key=lambda pk: (-sum(_ALIKE[f][0] for f in points[pk]), -pk))[:_SHOWN]
    if not best:
        return []
    rows = {one.pk: one for one in incidents().filter(pk__in=best)}
    decided = _decisions_of(best)
    return [
        Likeness(rows[pk], [_ALIKE[field][1] for field in points[pk]], decided.get(pk, []))
        for pk in best
        if pk in rows
    ]


def _decisions_of(keys: Sequence[int]) -> Mapping[int, list[Decision]]:
    """The decisions that stand on each incident, as they were made and not carried on."""
    standing = Decision.objects.filter(
        standing=True, carried_from=None, recommendation__diagnosis__incident__in=keys
    ).select_related("recommendation__diagnosis")
    found: dict[int, list[Decision]] = {}
    for one in standing.order_by("id"):
        found.setdefault(one.recommendation.diagnosis.incident_id, []).append(one)
    return found
