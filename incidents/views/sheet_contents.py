"""What the one-page report of an incident says."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from incidents import selectors
from incidents.choices import SuspectRole
from incidents.hostnames import normalise_host
from incidents.models import Diagnosis, Event, Evidence, Finding, Incident, Suspect
from incidents.selectors import Aftermath
from incidents.views.certainty import certain_of
from incidents.views.coverage import Coverage, coverage_of
from incidents.views.incident_parts import Advice, advice_of
from incidents.views.timeline import NOTED, RESOLVED

#: What fits on a page: suspects, findings of each, files.
_SUSPECTS, _FINDINGS, _FILES = 3, 4, 12


@dataclass(frozen=True, slots=True)
class Blamed:
    """A suspect with the part's own number and the findings that weigh most."""

    suspect: Suspect
    gpu_uuid: str
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class Sheet:
    """What the page says. `ended` is the event of its resolution, which tells who and when."""

    incident: Incident
    ended: Event | None
    notes: Sequence[Event]
    answer: Diagnosis | None
    certain_of: str
    coverage: Coverage
    blamed: Sequence[Blamed]
    advice: Sequence[Advice]
    aftermath: Aftermath | None
    files: Sequence[Evidence]
    further_files: int


def sheet_of(incident: Incident) -> Sheet:
    """What the newest answer, the decisions and the evidence come down to."""
    answer = selectors.latest_finished(incident)
    files = _files(incident, answer)
    events = list(selectors.timeline(incident))
    return Sheet(
        incident=incident,
        ended=_ended(incident, events),
        notes=[one for one in events if one.verb == NOTED],
        answer=answer,
        certain_of=certain_of(answer) if answer else "",
        coverage=coverage_of(answer.coverage) if answer else Coverage(),
        blamed=_blamed(incident, answer) if answer else [],
        advice=advice_of(answer, incident) if answer else [],
        aftermath=selectors.aftermath_of(incident, now=timezone.now()),
        files=files[:_FILES],
        further_files=max(0, len(files) - _FILES),
    )


def _ended(incident: Incident, events: Sequence[Event]) -> Event | None:
    """The last resolution of its own; none while it is open."""
    if incident.is_open:
        return None
    own = (one for one in events if one.incident_id == incident.pk)
    return next((one for one in reversed([*own]) if one.verb == RESOLVED), None)


def _blamed(incident: Incident, answer: Diagnosis) -> Sequence[Blamed]:
    suspects = [one for one in answer.suspects.all() if one.role != SuspectRole.VICTIM]
    uuids = _uuids(incident)
    return [
        Blamed(
            suspect=one,
            gpu_uuid=uuids.get((normalise_host(one.target_host), one.target_gpu), ""),
            findings=sorted(one.findings.all(), key=lambda found: -found.weight)[:_FINDINGS],
        )
        for one in suspects[:_SUSPECTS]
    ]


def _files(incident: Incident, answer: Diagnosis | None) -> Sequence[Evidence]:
    """The files in use, those that the answer's findings lead to first."""
    found = list(selectors.evidence_in_use(incident))
    if answer is None:
        return found
    told = {one.evidence_id: place for place, one in enumerate(answer.findings.all())}
    return sorted(found, key=lambda one: told.get(one.pk, len(told)))


def _uuids(incident: Incident) -> dict[tuple[str, str], str]:
    """Host and GPU → UUID, of the incident's hosts."""
    if incident.attempt is None:
        return {}
    placed = selectors.placement_of(incident.attempt).filter(host__incidents=incident)
    return {(one.host.normalised_name, one.gpu): one.gpu_uuid for one in placed}
