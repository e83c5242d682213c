"""Merged, split and linked incidents on their pages."""

import pytest
from django.test import Client

from incidents.models import Incident
from tests.factories import EvidenceFactory, HostFactory, IncidentFactory

HTMX = {"HX-Request": "true"}


@pytest.fixture
def pair(responder: Client) -> tuple[Incident, Incident]:
    """An incident, and the one that it was merged into."""
    source, target = IncidentFactory(title="first seen"), IncidentFactory()
    responder.post(f"/incidents/{source.pk}/merge", {"into": target.reference, "version": 1})
    return source, target


def test_an_old_link_leads_on_and_no_browser_keeps_that(responder: Client, pair):
    source, target = pair
    answer = responder.get(f"/incidents/{source.pk}")
    assert answer.status_code == 308
    assert answer["Location"] == f"/incidents/{target.pk}?from={source.reference}"
    assert answer["Cache-Control"] == "no-store"


def test_the_page_it_leads_to_says_why_and_names_the_other(responder: Client, pair):
    source, _ = pair
    there = responder.get(f"/incidents/{source.pk}")["Location"]
    page = responder.get(there).content.decode()
    assert f"{source.reference} was merged into this incident" in page
    assert "first seen" in page


def test_its_own_record_is_still_there_to_read_and_not_to_change(responder: Client, pair):
    source, target = pair
    page = responder.get(f"/incidents/{source.pk}?own").content.decode()
    assert f"merged into {target.reference}" in page
    assert "Add note" not in page


def test_evidence_of_the_merged_one_is_listed_with_where_it_came_from(responder: Client, pair):
    source, target = pair
    EvidenceFactory(incident=source, name="early.log")
    page = responder.get(f"/incidents/{target.pk}").content.decode()
    assert "early.log" in page
    assert f'<span class="chip">{source.reference}</span>' in page


def test_it_is_taken_out_again_from_there(responder: Client, pair):
    source, _ = pair
    responder.post(f"/incidents/{source.pk}/unmerge")
    assert responder.get(f"/incidents/{source.pk}").status_code == 200


def test_a_live_page_that_merges_is_led_to_the_other(responder: Client):
    source, target = IncidentFactory(), IncidentFactory()
    answer = responder.post(f"/incidents/{source.pk}/merge", {"into": str(target.pk)}, headers=HTMX)
    assert answer["HX-Redirect"] == f"/incidents/{target.pk}"


def test_merging_into_nothing_is_refused(responder: Client):
    incident = IncidentFactory()
    answer = responder.post(f"/incidents/{incident.pk}/merge", {"into": "INC-0"}, headers=HTMX)
    assert answer.status_code == 422


def test_files_and_hosts_are_chosen_to_be_split_off(responder: Client):
    file = EvidenceFactory(name="other.log")
    host = HostFactory(cluster=file.incident.cluster, name="node-7")
    file.incident.hosts.add(host)
    at = f"/incidents/{file.incident_id}"
    assert "other.log" in responder.get(f"{at}/splitting").content.decode()
    given = {"title": "another job", "evidence": file.pk, "host": "node-7", "version": 1}
    answer = responder.post(f"{at}/split", given)
    second = Incident.objects.get(title="another job")
    assert answer["Location"] == f"/incidents/{second.pk}"
    assert list(second.hosts.all()) == [host]


def test_a_ticket_is_linked_shown_and_taken_away(responder: Client):
    incident = IncidentFactory()
    at = f"/incidents/{incident.pk}"
    responder.post(f"{at}/tickets", {"key": "OPS-1", "url": "https://jira.example/OPS-1"})
    assert 'href="https://jira.example/OPS-1"' in responder.get(at).content.decode()
    responder.post(f"{at}/tickets/{incident.tickets.get().pk}")
    assert not incident.tickets.exists()


@pytest.mark.parametrize("what", ["merge", "unmerge", "split", "tickets", "snooze", "wake"])
def test_a_viewer_takes_no_such_step(what: str, viewer: Client):
    incident, other = IncidentFactory(), IncidentFactory()
    given = {"into": other.reference, "title": "x", "key": "x", "snooze": "news"}
    assert viewer.post(f"/incidents/{incident.pk}/{what}", given).status_code in {403, 302, 409}
    incident.refresh_from_db()
    assert (incident.version, incident.tickets.count()) == (1, 0)


def test_an_incident_is_snoozed_and_brought_back_from_its_page(responder: Client):
    incident = IncidentFactory()
    responder.post(f"/incidents/{incident.pk}/snooze", {"snooze": "news", "version": 1})
    assert "snoozed until news" in responder.get(f"/incidents/{incident.pk}").content.decode()
    responder.post(f"/incidents/{incident.pk}/wake", {"version": 2})
    incident.refresh_from_db()
    assert not incident.is_snoozed


def test_notes_are_markdown_and_safe(responder: Client):
    incident = IncidentFactory()
    at = f"/incidents/{incident.pk}"
    responder.post(f"{at}/note", {"text": "**hot** <script>alert(1)</script>"})
    page = responder.get(at).content.decode()
    assert "<strong>hot</strong>" in page
    assert "<script>alert" not in page
