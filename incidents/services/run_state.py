"""What the desk shows of an incident's newest run."""

from django.utils import timezone

from incidents.choices import DiagnosisState
from incidents.models import Diagnosis, Incident


def show_state(diagnosis: Diagnosis, state: DiagnosisState) -> None:
    """Shows the state of a run on its incident, unless a newer run is already shown there."""
    if not is_newest(diagnosis):
        return
    Incident.objects.filter(pk=diagnosis.incident_id).update(
        diagnosis_state=state, updated_at=timezone.now()
    )


def is_newest(diagnosis: Diagnosis, *, among: DiagnosisState | None = None) -> bool:
    """Whether no later run of the incident exists, or none in the state `among`."""
    later = Diagnosis.objects.filter(incident=diagnosis.incident_id, number__gt=diagnosis.number)
    if among is not None:
        later = later.filter(state=among)
    return not later.exists()
