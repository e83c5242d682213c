"""Keeping the words that incidents are found by. Words are added and never taken away."""

from collections.abc import Iterable

from incidents.models import Incident, SearchTerm
from incidents.search_terms import terms_of

_FINDINGS = 300


def add_words(incident: Incident, texts: Iterable[str]) -> None:
    """Makes the incident found by these texts; part of whatever wrote them."""
    SearchTerm.objects.bulk_create(
        [SearchTerm(incident_id=incident.pk, term=term) for term in terms_of(texts)],
        batch_size=500,
        ignore_conflicts=True,
    )


def index(incident: Incident) -> None:
    """The words of an incident's own fields, its job, its hosts and its newest answer."""
    add_words(incident, [*_own(incident), *_of_answers(incident)])


def take_over_words(incident: Incident, source: Incident) -> None:
    """Makes the incident found by whatever another one was found by."""
    terms = source.terms.values_list("term", flat=True)
    SearchTerm.objects.bulk_create(
        [SearchTerm(incident_id=incident.pk, term=term) for term in terms],
        batch_size=500,
        ignore_conflicts=True,
    )


def index_devices(incident: Incident) -> None:
    """Makes the incident found by serial number and UUID of the parts that it is about."""
    parts = incident.fault_records.filter(device__isnull=False)
    named = parts.values_list("device__serial", "device__uuid", "device__model").distinct()
    add_words(incident, [word for one in named for word in one])


def _own(incident: Incident) -> Iterable[str]:
    yield from (incident.title, incident.dedup_key, incident.source, incident.cluster.name)
    yield from (incident.verdict_summary, incident.suspect_name, incident.suspect_fault)
    yield incident.resolution_note
    if incident.job is not None:
        yield from (incident.job.name, incident.job.external_id, incident.job.owner)
    hosts = list(incident.hosts.all())
    yield from (host.normalised_name for host in hosts)
    if incident.attempt is not None and hosts:
        placed = incident.attempt.placements.filter(host__in=hosts)
        yield from placed.exclude(gpu_uuid="").values_list("gpu_uuid", flat=True)


def _of_answers(incident: Incident) -> Iterable[str]:
    """What the newest run names and says."""
    run = incident.diagnoses.filter(state="done").order_by("-number").first()
    if run is None:
        return
    for suspect in run.suspects.all():
        yield from (suspect.fault, suspect.target_label, suspect.target_peer)
    yield from run.findings.order_by("position").values_list("text", flat=True)[:_FINDINGS]
