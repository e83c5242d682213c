"""Incidents by the id that another system gave them: made at first, found afterwards."""

from typing import Any

from django.db import IntegrityError, transaction

from incidents import selectors
from incidents.exceptions import InvalidInput
from incidents.models import ExternalId, Incident
from incidents.roles import Actor
from incidents.services.opening import open_incident


def incident_of(source: str, external_id: str) -> Incident | None:
    """The incident with this id, or the one that it was merged into."""
    known = ExternalId.objects.filter(source=source, external_id=external_id)
    found = known.select_related("incident__merged_into").first()
    return selectors.standing_record(found.incident) if found else None


@transaction.atomic
def open_as(
    *, actor: Actor, source: str, external_id: str, report: dict[str, Any]
) -> tuple[Incident, bool]:
    """The incident of this id, opened or joined by the report where the id is new.

    Of two requests at once one makes it. Raises `InvalidInput` for an id out of the actor's reach.
    """
    if (known := incident_of(source, external_id)) is not None:
        return known, False
    try:
        with transaction.atomic():
            incident, _ = open_incident(actor=actor, source=source, **report)
            ExternalId.objects.create(source=source, external_id=external_id, incident=incident)
    except IntegrityError as error:
        known = incident_of(source, external_id)
        if known is None:
            raise InvalidInput("Another incident has this id.", field="external_id") from error
        return known, False
    return incident, True
