"""What a finished run changes on its incident."""

from collections.abc import Sequence
from datetime import datetime
from textwrap import shorten

from django.db.models import Min
from django.utils import timezone

from incidents import selectors
from incidents.choices import DiagnosisState, SuspectRole
from incidents.fingerprints import fingerprint_of
from incidents.hostnames import normalise_host
from incidents.models import Diagnosis, Finding, Incident, Suspect
from incidents.services import topology
from incidents.services.idle import idle_gpus
from incidents.services.indexing import index
from incidents.services.opening import UNTITLED, kind_after
from incidents.services.run_state import is_newest, show_state
from incidents.services.snoozing import note_news

#: What the watch opened it counts itself, look by look.
WATCHED = "watch"


def show_answer(diagnosis: Diagnosis) -> None:
    """Repeats the answer on the incident; an older run that ends late changes nothing there.

    Where nobody said when it began, the first sign of the cause in its evidence tells, each answer
    anew. Hosts that
    it names as the cause belong to the incident from now on; they are registered where new.
    """
    show_state(diagnosis, DiagnosisState.DONE)
    if not is_newest(diagnosis, among=DiagnosisState.DONE):
        return
    incident = diagnosis.incident
    suspects = list(diagnosis.suspects.order_by("position"))
    first = suspects[0] if suspects else None
    incident.kind = kind_after(incident, diagnosis.kind)
    Incident.objects.filter(pk=incident.pk).update(
        title=_title(incident, diagnosis),
        kind=incident.kind,
        gpu_count=incident.gpu_count if incident.source == WATCHED else idle_gpus(incident),
        verdict_class=diagnosis.verdict_class,
        verdict_summary=diagnosis.summary,
        confidence=diagnosis.confidence,
        suspect_name=first.target_label[:300] if first else "",
        suspect_score=first.score if first else None,
        suspect_fault=first.fault if first else "",
        suspect_host=normalise_host(first.target_host) if first else "",
        fingerprint=_fingerprint(first),
        onset_at=incident.onset_at
        if _somebody_said(incident, diagnosis)
        else _first_sign(suspects),
        updated_at=timezone.now(),
    )
    named = selectors.accused_hosts(diagnosis)
    incident.hosts.add(*topology.hosts_named(incident.cluster, named).values())
    _tell(incident, diagnosis, first)


def _tell(incident: Incident, diagnosis: Diagnosis, first: Suspect | None) -> None:
    """Makes the incident found by the answer, and wakes it where the answer is another one."""
    known = (incident.verdict_class, incident.suspect_name)
    found = (diagnosis.verdict_class, first.target_label[:300] if first else "")
    incident.refresh_from_db()
    index(incident)
    if known != found:
        note_news(incident, "another answer")


def _fingerprint(first: Suspect | None) -> str:
    """What the first finding against the first suspect says, without what differs every time."""
    if first is None:
        return ""
    found = first.findings.filter(weight__gt=0).order_by("position").first()
    return fingerprint_of(found.text, host=first.target_host) if found else ""


def _title(incident: Incident, diagnosis: Diagnosis) -> str:
    """The title that a person gave; where nobody did, the job's name or what was found."""
    if incident.title != UNTITLED:
        return incident.title
    return shorten(str(incident.job or diagnosis.summary), width=300, placeholder=" …") or UNTITLED


def _somebody_said(incident: Incident, diagnosis: Diagnosis) -> bool:
    """Whether a person, a program or the watch told its beginning, and no answer before did."""
    if incident.onset_at is None:
        return False
    earlier = Finding.objects.filter(
        diagnosis__incident__in=selectors.family_of(incident),
        diagnosis__state=DiagnosisState.DONE,
        suspects__role=SuspectRole.CULPRIT,
        weight__gt=0,
    ).exclude(diagnosis=diagnosis)
    signs = earlier.order_by().values("diagnosis").annotate(first=Min("at"))
    return not signs.filter(first=incident.onset_at).exists()


def _first_sign(suspects: Sequence[Suspect]) -> datetime | None:
    """When the evidence first speaks against a culprit; a time still to come is a wrong clock."""
    culprits = [one for one in suspects if one.role == SuspectRole.CULPRIT]
    signs = Finding.objects.filter(suspects__in=culprits, weight__gt=0, at__lte=timezone.now())
    first: datetime | None = signs.aggregate(first=Min("at"))["first"]
    return first
