"""Versions, going back, and files in the admin site."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from diagnosis.models import Signature, TaxonomyDraft, TaxonomyVersion
from diagnosis.services import exchange, rule_changes
from diagnosis.taxonomy.documents import to_yaml
from diagnosis.taxonomy.rulebook import Rulebook
from incidents.choices import Role
from tests.diagnosis.services.test_taxonomy import OTHER, ROW
from tests.factories import DiagnosisFactory, UserFactory, actor

pytestmark = pytest.mark.django_db

NEW = {**ROW, "code": "new", "pattern": "NEW", "examples": []}


@pytest.fixture
def changed(signature: Signature) -> TaxonomyVersion:
    row = {**OTHER, "priority": 10}
    version = rule_changes.write(actor=actor(Role.TAXONOMIST), changes={"oom": row}, why="too loud")
    assert version is not None
    return version


def upload(client, *rows: dict[str, object]):
    content = to_yaml(Rulebook(signatures=rows)).encode()
    return client.post(
        reverse("admin:taxonomy_import"), {"file": SimpleUploadedFile("rules.yaml", content)}
    )


def apply(client, preview, **changes: object):
    given = {**preview.context["apply"].initial, "why": "from the other site", **changes}
    given = {name: value for name, value in given.items() if value is not False}
    return client.post(reverse("admin:taxonomy_import_apply"), given)


def test_a_version_shows_what_it_changed(taxonomist, changed):
    page = taxonomist.get(reverse("admin:diagnosis_taxonomyversion_change", args=[changed.pk]))
    assert "too loud" in page.text
    assert "<del>70</del>" in page.text
    assert "<ins>10</ins>" in page.text


def test_restoring_shows_what_it_changes_and_asks_why(taxonomist, changed):
    first = TaxonomyVersion.objects.earliest("id")
    address = reverse("admin:taxonomy_restore", args=[first.pk])
    assert "<ins>70</ins>" in taxonomist.get(address).text
    taxonomist.post(address, {"why": ""})
    assert Signature.objects.get(code="oom").priority == 10
    taxonomist.post(address, {"why": "it was right"})
    assert Signature.objects.get(code="oom").priority == 70


def test_the_rules_and_each_version_can_be_downloaded(taxonomist, changed):
    whole = taxonomist.get(reverse("admin:taxonomy_export"))
    version = taxonomist.get(reverse("admin:taxonomy_version_yaml", args=[changed.pk]))
    assert whole.content == version.content == exchange.export().encode()


def test_an_upload_is_previewed_and_then_taken_in(taxonomist, signature):
    preview = upload(taxonomist, NEW)
    assert not Signature.objects.filter(code="new").exists()
    apply(taxonomist, preview)
    newest = TaxonomyVersion.objects.latest("id")
    assert Signature.objects.filter(code="new").exists()
    assert (newest.who, newest.why) == ("tess", "from the other site")


def test_a_file_with_a_mistake_is_refused_with_the_line(taxonomist, signature):
    page = upload(taxonomist, NEW, {**NEW, "code": "bad", "pattern": "(?=x)"})
    (problem,) = page.context["problems"]
    assert "row 2 (line" in problem
    assert "apply" not in page.context


def test_an_import_without_a_reason_is_asked_again(taxonomist, signature):
    preview = upload(taxonomist, NEW)
    again = apply(taxonomist, preview, why="")
    assert again.context["apply"].errors["why"]
    assert not Signature.objects.filter(code="new").exists()


def test_rules_that_changed_since_the_preview_are_looked_at_again(taxonomist, signature):
    preview = upload(taxonomist, NEW)
    row = {**OTHER, "priority": 10}
    rule_changes.write(actor=actor(Role.TAXONOMIST), changes={"oom": row}, why="meanwhile")
    assert "have changed meanwhile" in apply(taxonomist, preview).text
    assert not Signature.objects.filter(code="new").exists()


def test_an_upload_can_go_into_the_draft_to_be_replayed_first(taxonomist, signature):
    preview = upload(taxonomist, NEW)
    apply(taxonomist, preview, draft="1", why="")
    assert set(TaxonomyDraft.objects.get().changes) == {"new"}
    assert not Signature.objects.filter(code="new").exists()


@pytest.mark.parametrize("name", ["taxonomy_import", "taxonomy_restore"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_an_operator_may_look_but_not_change(client, changed, name: str, method: str):
    client.force_login(UserFactory(role=Role.OPERATOR))
    arguments = [changed.pk] if name == "taxonomy_restore" else []
    answer = getattr(client, method)(reverse(f"admin:{name}", args=arguments))
    assert answer.status_code == 403


@pytest.mark.parametrize("role", [Role.VIEWER, Role.RESPONDER])
def test_the_admin_site_is_closed_to_others(client, changed, role: Role):
    client.force_login(UserFactory(role=role))
    assert client.get(reverse("admin:taxonomy_export")).status_code == 302


def test_everyone_reads_the_version_that_a_diagnosis_used(client, changed):
    client.force_login(UserFactory(role=Role.VIEWER))
    DiagnosisFactory(done=True, taxonomy_version=changed.version)
    page = client.get(reverse("diagnosis:taxonomy-version", args=[changed.version]))
    assert "too loud" in page.text


def test_a_diagnosis_leads_to_its_version(client, changed):
    client.force_login(UserFactory(role=Role.VIEWER))
    run = DiagnosisFactory(done=True, taxonomy_version=changed.version)
    page = client.get(reverse("incidents:incident", args=[run.incident_id]))
    assert reverse("diagnosis:taxonomy-version", args=[changed.version]) in page.text


def test_a_version_that_was_never_kept_says_so(client, signature):
    client.force_login(UserFactory(role=Role.VIEWER))
    page = client.get(reverse("diagnosis:taxonomy-version", args=["0123456789abcdef"]))
    assert page.status_code == 404
    assert "No version of this name" in page.text
