"""Answers that were not made from an incident's evidence, kept as one of its diagnoses."""

from django.db import transaction

from diagnosis.core.diagnosis import Diagnosis
from diagnosis.services.answers import result_from
from incidents import models
from incidents.roles import Actor
from incidents.services import diagnoses


@transaction.atomic
def store_answer(
    *, actor: Actor, incident: models.Incident, answer: Diagnosis, owner: str
) -> models.Diagnosis:
    """The answer as the incident's newest diagnosis; `owner` names who gave it."""
    result = result_from(answer, records={}, kinds={}, origins={}, fault_codes={})
    run = diagnoses.start_own_run(actor=actor, incident=incident, owner=owner)
    return diagnoses.store_result(pk=run.pk, owner=owner, result=result)
