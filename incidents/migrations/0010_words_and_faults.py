"""Gives the incidents that are there the words to find them by, and their first suspect's fault."""

from django.db import migrations

from incidents.fingerprints import fingerprint_of
from incidents.hostnames import normalise_host
from incidents.search_terms import terms_of

_FINDINGS = 300


def _texts(incident, run):
    yield from (incident.title, incident.dedup_key, incident.source, incident.cluster.name)
    yield from (incident.verdict_summary, incident.suspect_name, incident.resolution_note)
    if incident.job is not None:
        yield from (incident.job.name, incident.job.external_id, incident.job.owner)
    yield from incident.hosts.values_list("normalised_name", flat=True)
    yield from incident.events.filter(verb="incident.noted").values_list("text", flat=True)
    if run is not None:
        for suspect in run.suspects.all():
            yield from (suspect.fault, suspect.target_host, suspect.target_name)
        yield from run.findings.order_by("position").values_list("text", flat=True)[:_FINDINGS]


def fill(apps, schema_editor):
    Incident = apps.get_model("incidents", "Incident")
    SearchTerm = apps.get_model("incidents", "SearchTerm")
    for incident in Incident.objects.select_related("cluster", "job").iterator(chunk_size=500):
        run = incident.diagnoses.filter(state="done").order_by("-number").first()
        first = run.suspects.order_by("position").first() if run else None
        if first is not None:
            told = first.findings.filter(weight__gt=0).order_by("position").first()
            Incident.objects.filter(pk=incident.pk).update(
                suspect_fault=first.fault,
                suspect_host=normalise_host(first.target_host),
                fingerprint=fingerprint_of(told.text, host=first.target_host) if told else "",
            )
        SearchTerm.objects.bulk_create(
            [SearchTerm(incident=incident, term=term) for term in terms_of(_texts(incident, run))],
            batch_size=500,
            ignore_conflicts=True,
        )


class Migration(migrations.Migration):
    dependencies = [("incidents", "0009_desk_work")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
