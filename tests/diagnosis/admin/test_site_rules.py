"""Overrides, ignore rules and maintenance windows in the admin site, and their effect."""

import io

import pytest
from django.urls import reverse

from diagnosis.models import IgnoreRule, MaintenanceWindow, Signature, TaxonomyVersion
from diagnosis.services import taxonomy
from diagnosis.services.run import run
from incidents.choices import Role
from incidents.models import Diagnosis
from incidents.services.evidence import attach_evidence
from tests.diagnosis.services.test_taxonomy import shipped_rows
from tests.factories import ClusterFactory, DiagnosisFactory, UserFactory, actor

pytestmark = pytest.mark.django_db

FALLEN = (
    "2026-11-30T08:10:05+00:00 node-07 kernel: NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, "
    "name=python, GPU has fallen off the bus.\n"
)


def add(client, kind: str, **fields: object):
    return client.post(reverse(f"admin:diagnosis_{kind}_add"), fields)


def window(cluster, **changes: object) -> dict[str, object]:
    return {
        "cluster": cluster.pk,
        "hosts": "node-07\n",
        "starts_at": "2026-11-30T08:00",
        "ends_at": "2026-11-30T10:00",
        "reason": "new fans",
        **changes,
    }


def diagnosed(cluster) -> Diagnosis:
    queued: Diagnosis = DiagnosisFactory(incident__cluster=cluster)
    stream = io.BytesIO(FALLEN.encode())
    attach_evidence(actor=actor(), incident=queued.incident, name="node-07.log", stream=stream)
    run(queued.pk)
    queued.refresh_from_db()
    return queued


def isolates(diagnosis: Diagnosis) -> bool:
    return diagnosis.recommendations.filter(action="isolate-host").exists()


def test_a_maintenance_window_is_a_version_and_is_told_in_the_trace(taxonomist):
    taxonomy.load_shipped(actor=actor(Role.ADMIN), shipped=shipped_rows())
    lab, other = ClusterFactory(name="lab"), ClusterFactory(name="other")
    add(taxonomist, "maintenancewindow", **window(lab))
    version = TaxonomyVersion.objects.latest("id")
    here, elsewhere = diagnosed(lab), diagnosed(other)
    assert version.why.endswith("new fans")
    assert (isolates(here), isolates(elsewhere)) == (False, True)
    assert any("under maintenance" in line and "new fans" in line for line in here.trace)
    assert here.taxonomy_version == version.in_clusters.get(cluster="lab").version


def test_an_override_holds_in_its_cluster(taxonomist):
    taxonomy.load_shipped(actor=actor(Role.ADMIN), shipped=shipped_rows())
    lab, other = ClusterFactory(name="lab"), ClusterFactory(name="other")
    signature = Signature.objects.get(code="xid-79-fallen-off-bus")
    add(
        taxonomist, "signatureoverride", cluster=lab.pk, signature=signature.pk,
        disabled="on", reason="risers are being replaced",
    )  # fmt: skip
    assert (isolates(diagnosed(lab)), isolates(diagnosed(other))) == (False, True)


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"pattern": "(?=x)", "host": "node-07"}, "pattern", "look-ahead"),
        ({"host": "node-07"}, "__all__", "a signature or a pattern"),
        ({"pattern": "x"}, "__all__", "the host or the cluster"),
        ({"pattern": "x", "host": "n", "expires_at": ""}, "expires_at", "required"),
    ],
)
def test_a_broken_ignore_rule_is_refused_with_the_reason(
    taxonomist, changes: dict[str, str], field: str, reason: str
):
    given = {"reason": "known", "expires_at": "2027-01-01T00:00", **changes}
    page = add(taxonomist, "ignorerule", **given)
    assert reason in str(page.context["adminform"].form.errors[field])
    assert not IgnoreRule.objects.exists()


def test_a_new_ignore_rule_expires_unless_its_author_says_otherwise(taxonomist):
    page = taxonomist.get(reverse("admin:diagnosis_ignorerule_add"))
    assert page.context["adminform"].form.initial["expires_at"]


def test_a_window_that_ends_before_it_begins_is_refused(taxonomist):
    add(taxonomist, "maintenancewindow", **window(ClusterFactory(), ends_at="2026-11-30T07:00"))
    assert not MaintenanceWindow.objects.exists()


def test_a_year_half_typed_is_refused_in_its_field(taxonomist):
    page = add(
        taxonomist, "maintenancewindow", **window(ClusterFactory(), starts_at="0001-01-01T00:00")
    )
    assert "after the year 2000" in str(page.context["adminform"].form.errors["starts_at"])


@pytest.mark.parametrize("kind", ["signatureoverride", "ignorerule", "maintenancewindow"])
@pytest.mark.parametrize("role", [Role.OPERATOR, Role.RESPONDER, Role.VIEWER])
def test_nobody_else_adds_site_rules(client, kind: str, role: Role):
    client.force_login(UserFactory(role=role))
    assert add(client, kind).status_code in {302, 403}
    assert client.get(reverse(f"admin:diagnosis_{kind}_add")).status_code in {302, 403}
