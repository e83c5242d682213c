"""The admin site of the records, used as a person does."""

from typing import Any

import pytest
from django.urls import reverse

from incidents.choices import Role
from incidents.models import Event, Host
from tests import factories as make

pytestmark = pytest.mark.django_db

LISTS: dict[str, Any] = {
    "cluster": make.ClusterFactory,
    "host": make.HostFactory,
    "job": make.JobFactory,
    "attempt": make.AttemptFactory,
    "incident": make.IncidentFactory,
    "evidence": make.EvidenceFactory,
    "diagnosis": make.DiagnosisFactory,
    "user": make.UserFactory,
}


@pytest.fixture
def signed_in(client):
    """A browser in which someone with a role is signed in."""

    def sign_in(role: Role):
        client.force_login(make.UserFactory(role=role))
        return client

    return sign_in


@pytest.mark.parametrize("model", LISTS)
def test_every_list_and_page_opens(model: str, signed_in):
    row = LISTS[model]()
    browser = signed_in(Role.ADMIN)
    listed = browser.get(reverse(f"admin:incidents_{model}_changelist"), {"q": "x"})
    page = browser.get(reverse(f"admin:incidents_{model}_change", args=[row.pk]))
    assert (listed.status_code, page.status_code) == (200, 200)


@pytest.mark.parametrize("model", ["incident", "evidence", "diagnosis", "event", "decision"])
def test_records_of_what_happened_can_only_be_looked_at(model: str, signed_in):
    browser = signed_in(Role.ADMIN)
    assert browser.get(reverse(f"admin:incidents_{model}_changelist")).status_code == 200
    assert browser.get(reverse(f"admin:incidents_{model}_add")).status_code == 403


def test_an_event_is_not_deleted_in_the_admin_site(signed_in):
    host = make.HostFactory()
    event = Event.objects.create(verb="x", text="x", actor="x", source="api", host=host)
    answer = signed_in(Role.ADMIN).post(
        reverse("admin:incidents_event_delete", args=[event.pk]), {"post": "yes"}
    )
    assert answer.status_code == 403
    assert Event.objects.filter(pk=event.pk).exists()


@pytest.mark.parametrize("role", [Role.VIEWER, Role.RESPONDER])
def test_others_are_sent_to_the_login(role: Role, signed_in):
    answer = signed_in(role).get(reverse("admin:index"))
    assert answer.status_code == 302


def host_form(host: Host, **changes: str) -> dict[str, str]:
    fields = {"cluster": str(host.cluster_id), "name": host.name, "state": host.state}
    return {**fields, "pod": "", "tor": "", **changes}


def test_an_operator_changes_a_host_and_an_event_says_so(signed_in):
    host = make.HostFactory()
    signed_in(Role.OPERATOR).post(
        reverse("admin:incidents_host_change", args=[host.pk]), host_form(host, state="isolated")
    )
    event = Event.objects.get(host=host)
    assert (event.verb, event.source, event.data["fields"]) == ("host.changed", "admin", ["state"])


def test_a_taxonomist_looks_at_hosts_and_changes_none(signed_in):
    host = make.HostFactory()
    answer = signed_in(Role.TAXONOMIST).post(
        reverse("admin:incidents_host_change", args=[host.pk]), host_form(host, state="isolated")
    )
    assert answer.status_code == 403


def test_a_second_spelling_of_a_host_is_told_on_its_name(signed_in):
    host = make.HostFactory(name="node-1")
    other = make.HostFactory(cluster=host.cluster, name="node-2")
    answer = signed_in(Role.OPERATOR).post(
        reverse("admin:incidents_host_change", args=[other.pk]),
        host_form(other, name="NODE-1.example.org"),
    )
    assert "perhaps spelt otherwise" in answer.content.decode()


def test_an_operator_sees_no_people(signed_in):
    assert (
        signed_in(Role.OPERATOR).get(reverse("admin:incidents_user_changelist")).status_code == 403
    )
