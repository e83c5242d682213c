"""The knowledge in the admin site."""

import pytest
from django.urls import reverse

from diagnosis.models import Signature, TaxonomyVersion
from diagnosis.services import taxonomy
from incidents.choices import Role
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def form(signature: Signature, **changes: str) -> dict[str, str]:
    fields = {
        "code": signature.code,
        "fault_type": str(signature.fault_type_id),
        "pattern": signature.pattern,
        "stream": signature.stream,
        "implicates": signature.implicates,
        "priority": str(signature.priority),
        "enabled": "on",
        "examples": "\n".join(signature.examples),
        "source": "",
        "provenance": "",
        "escalates": "null",
        "escalation_idea": "null",
        "why": "it was wrong",
    }
    return {**fields, **changes}


def save(client, signature: Signature, **changes: str):
    address = reverse("admin:diagnosis_signature_change", args=[signature.pk])
    return client.post(address, form(signature, **changes))


def test_a_changed_pattern_is_saved_marked_and_kept_as_a_version(taxonomist, signature):
    answer = save(taxonomist, signature, pattern="CUDA out of memory", examples="")
    signature.refresh_from_db()
    newest = TaxonomyVersion.objects.latest("id")
    assert answer.status_code == 302
    assert (signature.pattern, signature.edited) == ("CUDA out of memory", True)
    assert (newest.who, newest.why) == ("tess", "oom changed: it was wrong")
    assert newest.version == taxonomy.current().taxonomy.version


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=look)", "RE2 has no look-ahead"),
        ("(unclosed", "missing )"),
        ("x*", "matches an empty line"),
    ],
)
def test_a_bad_pattern_is_refused_on_its_field_with_the_reason(
    taxonomist, signature, pattern: str, reason: str
):
    answer = save(taxonomist, signature, pattern=pattern)
    (error,) = answer.context["adminform"].form.errors["pattern"]
    assert reason in error
    signature.refresh_from_db()
    assert not signature.edited


def test_a_change_without_a_reason_is_not_saved(taxonomist, signature):
    answer = save(taxonomist, signature, pattern="CUDA out of memory", examples="", why=" ")
    assert answer.context["adminform"].form.errors["why"]
    assert TaxonomyVersion.objects.count() == 1


def test_an_example_that_the_pattern_misses_is_refused(taxonomist, signature):
    answer = save(taxonomist, signature, examples="out of memory\nout of luck")
    (error,) = answer.context["adminform"].form.errors["examples"]
    assert "out of luck" in error


def test_examples_are_written_one_a_line(taxonomist, signature):
    save(taxonomist, signature, examples="out of memory\r\n\r\ntorch: out of memory\r\n")
    signature.refresh_from_db()
    assert signature.examples == ["out of memory", "torch: out of memory"]


def test_a_shipped_row_is_switched_off_and_not_deleted(taxonomist, signature):
    address = reverse("admin:diagnosis_signature_delete", args=[signature.pk])
    assert taxonomist.post(address, {"post": "yes"}).status_code == 403
    data = form(signature)
    del data["enabled"]
    taxonomist.post(reverse("admin:diagnosis_signature_change", args=[signature.pk]), data)
    assert "oom" not in taxonomy.current().taxonomy.by_code


def test_a_row_of_ones_own_can_be_deleted_and_that_is_a_version(taxonomist, signature):
    Signature.objects.filter(pk=signature.pk).update(shipped=False)
    address = reverse("admin:diagnosis_signature_delete", args=[signature.pk])
    taxonomist.post(address, {"post": "yes"})
    assert not Signature.objects.filter(code="oom").exists()
    assert TaxonomyVersion.objects.latest("id").why == "oom deleted"


def test_a_fault_type_is_edited_with_its_signatures(taxonomist, signature):
    fault = signature.fault_type
    page = reverse("admin:diagnosis_faulttype_change", args=[fault.pk])
    inline = {
        f"signatures-0-{name}": value
        for name, value in form(signature, pattern="OOM", examples="OOM").items()
    }
    answer = taxonomist.post(
        page,
        {
            "code": fault.code,
            "title": "Out of memory",
            "component": fault.component,
            "fault_class": fault.fault_class,
            "severity": fault.severity,
            "action": fault.action,
            "explanation": "",
            "runbook": "https://wiki.example.org/oom",
            "why": "people ask",
            "signatures-TOTAL_FORMS": "1",
            "signatures-INITIAL_FORMS": "1",
            "signatures-0-id": str(signature.pk),
            **inline,
        },
    )
    signature.refresh_from_db()
    assert answer.status_code == 302
    assert (signature.pattern, signature.edited) == ("OOM", True)
    assert signature.fault_type.runbook == "https://wiki.example.org/oom"
    assert TaxonomyVersion.objects.count() == 2


@pytest.mark.parametrize("search", ["oom", "out of", "Uncontained"])
def test_signatures_are_found_by_code_pattern_and_title(taxonomist, signature, search: str):
    page = taxonomist.get(reverse("admin:diagnosis_signature_changelist"), {"q": search})
    assert signature in page.context["cl"].queryset


@pytest.mark.parametrize("role", [Role.VIEWER, Role.RESPONDER, Role.OPERATOR])
def test_nobody_else_edits_the_taxonomy(client, signature, role: Role):
    client.force_login(UserFactory(role=role))
    save(client, signature, pattern="x")
    signature.refresh_from_db()
    assert signature.pattern == "out of memory"


def test_the_list_takes_few_queries_however_many_rows(
    taxonomist, signature, django_assert_max_num_queries
):
    with django_assert_max_num_queries(12):
        taxonomist.get(reverse("admin:diagnosis_signature_changelist"))


def test_versions_can_be_looked_at(taxonomist, signature):
    version = TaxonomyVersion.objects.get()
    page = taxonomist.get(reverse("admin:diagnosis_taxonomyversion_change", args=[version.pk]))
    assert page.status_code == 200


def test_no_escalation_is_an_empty_field(taxonomist, signature):
    page = taxonomist.get(reverse("admin:diagnosis_signature_change", args=[signature.pk]))
    field = page.context["adminform"].form["escalates"]
    assert field.value() == ""


def test_an_escalation_without_a_window_is_refused_on_its_field(taxonomist, signature):
    answer = save(taxonomist, signature, escalates='{"to": "critical", "key": "gpu"}')
    (error,) = answer.context["adminform"].form.errors["escalates"]
    assert "'window_hours' must be a number over 0" in error


def test_an_escalation_is_kept_as_given(taxonomist, signature):
    given = '{"to": "critical", "key": "gpu", "count": 2, "window_hours": 72}'
    save(taxonomist, signature, escalates=given, escalation_idea="")
    signature.refresh_from_db()
    assert (signature.escalates["window_hours"], signature.escalation_idea) == (72, None)


def test_a_signature_offers_no_way_to_delete_its_fault_type(taxonomist, signature):
    page = taxonomist.get(reverse("admin:diagnosis_signature_change", args=[signature.pk]))
    assert "delete_id_fault_type" not in page.content.decode()
