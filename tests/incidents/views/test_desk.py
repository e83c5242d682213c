"""The triage desk: what it lists, in which order and how fast, and what changes from it."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from incidents.choices import DecisionKind, Resolution, Source
from incidents.models import Execution, Incident, User
from incidents.roles import Actor
from incidents.services import incidents as services
from incidents.services.decisions import decide
from incidents.services.indexing import index
from tests.factories import (
    AttemptFactory,
    DiagnosisFactory,
    HostFactory,
    IncidentFactory,
    JobFactory,
    RecommendationFactory,
    SuspectFactory,
    actor,
)

HTMX = {"HX-Request": "true"}


def judged(**given) -> Incident:
    incident = IncidentFactory(**given)
    run = DiagnosisFactory(incident=incident, done=True)
    SuspectFactory(diagnosis=run, position=1, fault="xid-79")
    RecommendationFactory(diagnosis=run)
    return incident


def titles(response) -> list[str]:
    return [row.incident.title for row in response.context["rows"]]


def test_an_incident_is_shown_with_its_suspect_and_what_waits_for_a_decision(responder: Client):
    judged(title="pretrain", verdict_summary="node-001 broke")
    page = responder.get("/").content.decode()
    for words in ("pretrain", "node-001 broke", "xid-79", "Isolate host", "needs a decision"):
        assert words in page


def test_each_recommendation_is_shown_with_its_own_state(responder: Client):
    incident = judged()
    run = incident.diagnoses.get()
    isolate = run.recommendations.get()
    later = isolate.position + 1
    RecommendationFactory(diagnosis=run, position=later, action="restart-job", target_host="")
    decide(actor=actor(), recommendation=isolate, kind=DecisionKind.ACCEPT)
    page = responder.get("/").content.decode()
    assert re.search(r"Isolate host.*?accepted.*?Restart job.*?needs a decision", page, re.DOTALL)
    row = page[page.index('class="advice"') :]
    assert row[: row.index("</td>")].count("needs a decision") == 1


def test_a_command_that_ran_is_told_on_the_desk(responder: Client):
    advice = judged().diagnoses.get().recommendations.get()
    made = decide(actor=actor(), recommendation=advice, kind=DecisionKind.ACCEPT)
    Execution.objects.create(
        recommendation=advice, decision=made, scheduler="slurm", host="node-1",
        argv=["true"], planned_by="x", asked_by="x", state="done", exit_code=0,
        asked_at=timezone.now(), started_at=timezone.now(), ended_at=timezone.now(),
    )  # fmt: skip
    assert "accepted, ran" in responder.get("/").content.decode()


def test_the_worst_comes_first(responder: Client):
    now = timezone.now()
    IncidentFactory(title="small", severity="high", gpu_count=8, opened_at=now)
    IncidentFactory(title="large", severity="high", gpu_count=1024, opened_at=now)
    IncidentFactory(title="mild", severity="low", gpu_count=4096, opened_at=now)
    IncidentFactory(title="worst", severity="critical", opened_at=now)
    assert titles(responder.get("/")) == ["worst", "large", "small", "mild"]


def test_resolved_incidents_appear_only_when_asked_for(responder: Client):
    IncidentFactory(title="over", status="resolved", resolution="other", resolved_at=timezone.now())
    assert titles(responder.get("/")) == []
    assert titles(responder.get("/?status=resolved")) == ["over"]


@pytest.mark.parametrize("rows", [2, 30])
def test_the_number_of_queries_does_not_grow_with_the_rows(
    rows: int, responder: Client, django_assert_num_queries
):
    for _ in range(rows):
        attempt = AttemptFactory()
        judged(job=attempt.job, attempt=attempt)
    with django_assert_num_queries(12):
        responder.get("/")


@pytest.mark.parametrize(
    "query",
    [
        "q=LLAMA",
        "q=4711",
        "q=node-017.cluster.local",
        "q=xid-79",
        "kind=hang",
        "class=critical",
        "severity=high",
        "cluster=west",
        "owner=research",
        "assignee=anna",
        "assignee=me",
    ],
)
def test_a_filter_in_the_address_finds_what_it_names(query: str, responder: Client, anna: User):
    job = JobFactory(name="llama", external_id="4711", owner="research", cluster__name="west")
    incident = judged(
        title="wanted",
        job=job,
        cluster=job.cluster,
        kind="hang",
        severity="high",
        verdict_class="critical",
        assignee=anna,
    )
    incident.hosts.add(HostFactory(cluster=job.cluster, name="node-017"))
    index(incident)
    IncidentFactory(title="other", kind="crash")
    assert titles(responder.get(f"/?{query}")) == ["wanted"]


@pytest.mark.parametrize("query", ["kind=bogus", "severity=worse", "status=bogus", "snoozed=maybe"])
def test_a_filter_of_an_unknown_value_is_left_out_and_told_of(query: str, responder: Client):
    IncidentFactory(title="seen")
    IncidentFactory(status="resolved", resolution="other", resolved_at=timezone.now())
    response = responder.get(f"/?{query}&q=seen")
    name, value = query.split("=")
    assert titles(response) == ["seen"]
    assert f"The filter <code>{name}</code> was left out" in response.content.decode()
    assert f"{value} is not one of the available choices" in response.content.decode()


@pytest.mark.parametrize("words", ["INC-{}", "inc-{}", "#{}"])
def test_an_incident_is_found_by_its_number(words: str, responder: Client):
    incident = IncidentFactory(title="wanted")
    IncidentFactory(title="other")
    assert titles(responder.get("/", {"q": words.format(incident.pk)})) == ["wanted"]


def test_a_bare_number_finds_the_incident_beside_names_that_hold_it(responder: Client):
    incident = IncidentFactory(title="numbered")
    IncidentFactory(title="on a host of that number", cluster__name=f"hall-{incident.pk}07")
    found = titles(responder.get("/", {"q": str(incident.pk)}))
    assert {"numbered", "on a host of that number"} <= set(found)


def test_nobodys_incidents_can_be_asked_for(responder: Client, anna: User):
    IncidentFactory(title="taken", assignee=anna)
    IncidentFactory(title="free")
    assert titles(responder.get("/?assignee=none")) == ["free"]


def test_pages_follow_each_other_without_gap_or_repeat(responder: Client):
    now = timezone.now()
    for number in range(120):
        IncidentFactory(
            title=f"{number}", gpu_count=number % 3, opened_at=now - timedelta(minutes=number % 7)
        )
    seen: list[str] = []
    address = "/"
    while address:
        response = responder.get(address)
        seen += titles(response)
        address = response.context["page"].next and f"/{response.context['next_query']}"
    assert sorted(seen, key=int) == [str(number) for number in range(120)]


@pytest.mark.parametrize("cursor", ["x", "W10", "WyJhIl0", "bnVsbA", "W3t9LDEsMiwzXQ"])
def test_a_cursor_that_is_none_leads_to_the_first_page(cursor: str, responder: Client):
    IncidentFactory(title="first")
    assert titles(responder.get("/", {"after": cursor})) == ["first"]


def test_a_search_without_result_offers_to_clear_it(responder: Client):
    IncidentFactory()
    assert "Clear filters" in responder.get("/?q=nothing-like-it").content.decode()


def test_an_unchanged_desk_is_answered_without_a_body(responder: Client):
    IncidentFactory()
    first = responder.get("/", headers=HTMX)
    again = responder.get("/", headers={**HTMX, "If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_any_change_of_an_incident_is_a_new_desk(responder: Client, anna: User):
    incident = IncidentFactory()
    first = responder.get("/", headers=HTMX)
    actor = Actor.of_user(anna, source=Source.API)
    services.acknowledge(actor=actor, incident=incident)
    again = responder.get("/", headers={**HTMX, "If-None-Match": first["ETag"]})
    assert again.status_code == 200


def test_the_live_part_is_no_whole_page(responder: Client):
    assert "<html" not in responder.get("/", headers=HTMX).content.decode()


def test_acknowledging_from_a_row_makes_it_ones_own(responder: Client, anna: User):
    incident = IncidentFactory()
    responder.post(f"/incidents/{incident.pk}/acknowledge", {"version": 1}, headers=HTMX)
    incident.refresh_from_db()
    assert (incident.status, incident.assignee) == ("acknowledged", anna)


def test_a_change_tells_the_live_page_to_look_again(responder: Client):
    incident = IncidentFactory()
    response = responder.post(f"/incidents/{incident.pk}/acknowledge", {"version": 1}, headers=HTMX)
    assert response.status_code == 204
    assert "changed" in response["HX-Trigger"]


def test_many_are_acknowledged_at_once_and_those_that_refuse_are_named(responder: Client):
    new = IncidentFactory()
    known = IncidentFactory(status="acknowledged", acknowledged_at=timezone.now())
    response = responder.post(
        "/incidents/change", {"incident": [new.pk, known.pk, "x"], "do": "acknowledge"}, follow=True
    )
    new.refresh_from_db()
    assert new.status == "acknowledged"
    assert f"1 of 2 acknowledged. {known.reference}" in response.content.decode()


def test_many_are_taken_at_once(responder: Client, anna: User):
    taken = [IncidentFactory(), IncidentFactory()]
    responder.post("/incidents/change", {"incident": [one.pk for one in taken], "do": "take"})
    assert Incident.objects.filter(assignee=anna).count() == 2


def test_a_viewer_has_nothing_to_press(viewer: Client):
    IncidentFactory()
    page = viewer.get("/").content.decode()
    assert ">Acknowledge<" not in page
    assert "New incident" not in page


def test_a_viewer_cannot_acknowledge(viewer: Client):
    incident = IncidentFactory()
    response = viewer.post(f"/incidents/{incident.pk}/acknowledge", {"version": 1})
    incident.refresh_from_db()
    assert (response.status_code, incident.status) == (403, "triggered")


def test_two_incidents_of_one_attempt_burn_its_gpus_once(responder: Client):
    attempt = AttemptFactory()
    began = timezone.now() - timedelta(hours=2)
    for hours in (0, 1):
        onset = began + timedelta(hours=hours)
        IncidentFactory(attempt=attempt, gpu_count=16, onset_at=onset)
    IncidentFactory(gpu_count=8, onset_at=began)
    summary = responder.get("/").context["summary"]
    assert (summary.gpus, round(summary.gpu_hours)) == (24, 48)


def resolve_many(client: Client, incidents: list[Incident], resolution: str):
    given = {"incident": [one.pk for one in incidents], "do": "resolve", "resolution": resolution}
    return client.post("/incidents/change", given, follow=True)


def test_many_are_resolved_at_once_and_those_that_refuse_are_named(responder: Client):
    over = IncidentFactory(status="resolved", resolution="other", resolved_at=timezone.now())
    page = resolve_many(responder, [IncidentFactory(), over], "false-alarm").content.decode()
    assert Incident.objects.filter(resolution="false-alarm").count() == 1
    assert "1 of 2 resolved." in page
    assert over.reference in page


@pytest.mark.parametrize("resolution", ["", "vanished"])
def test_many_are_resolved_only_with_a_resolution(resolution: str, responder: Client):
    page = resolve_many(responder, [IncidentFactory()], resolution).content.decode()
    assert "Say how they ended" in page
    assert not Incident.objects.filter(status="resolved").exists()


def test_a_row_says_how_severe_it_is_and_that_nobody_has_it(responder: Client):
    IncidentFactory()
    page = responder.get("/").content.decode()
    assert '<span class="chip">medium</span>' in page
    assert '<span class="muted">nobody</span>' in page


def test_an_empty_instance_says_what_to_do_next(operator: Client) -> None:
    page = operator.get("/").content.decode()

    for words in (
        "Open an incident",
        "register-from-slurm",
        "Add a metric source",
        "Load the demo",
    ):
        assert words in page


def test_a_viewer_is_offered_nothing_that_would_be_refused(viewer: Client) -> None:
    page = viewer.get("/").content.decode()

    assert "Load the demo" not in page
    assert "An operator can load it." in page


def test_a_desk_whose_incidents_are_all_over_does_not_begin_anew(viewer: Client) -> None:
    IncidentFactory(status="resolved", resolution="other", resolved_at=timezone.now())

    page = viewer.get("/").content.decode()

    assert "Nothing is broken" in page
    assert "Load the demo" not in page


def test_an_incident_of_the_demo_comes_with_a_guide(viewer: Client) -> None:
    run = DiagnosisFactory(done=True, incident=IncidentFactory(source="demo", kind="hang"))

    page = viewer.get(f"/incidents/{run.incident.pk}").content.decode()

    assert "Guide to this demo incident" in page


def over(**given) -> Incident:
    return IncidentFactory(
        status="resolved", resolution="other", resolved_at=timezone.now(), **given
    )


@pytest.mark.parametrize("words", ["INC-{}", "#{}"])
def test_enter_on_a_reference_leads_to_the_incident_whatever_its_state(words, responder: Client):
    incident = over()
    answer = responder.get("/", {"q": words.format(incident.pk), "go": "1"})
    assert answer["Location"] == f"/incidents/{incident.pk}"


@pytest.mark.parametrize("words", ["llama", "INC-999999", "7"])
def test_enter_on_anything_else_searches(words: str, responder: Client):
    answer = responder.get("/", {"q": words, "kind": "hang", "go": "1"})
    assert answer["Location"] == f"/?q={words}&kind=hang"


def test_a_search_without_an_open_match_tells_of_the_closed_ones(responder: Client):
    index(over(title="curlew"))
    page = responder.get("/?q=curlew").content.decode()
    assert '<a href="?q=curlew&amp;status=all">1 closed or snoozed incident</a> matches' in page
    assert "closed or snoozed incident<" not in responder.get("/?q=heron").content.decode()


@pytest.fixture
def pages_of_two(monkeypatch) -> None:
    monkeypatch.setattr("incidents.views.desk.PAGE_SIZE", 2)


def test_one_goes_back_a_page_and_sees_where_one_is(pages_of_two, responder: Client):
    names = [IncidentFactory(title=f"{letter}").title for letter in "abcdefg"]
    place, seen = "", []
    while True:
        response = responder.get(f"/{place}")
        seen += titles(response)
        if not response.context["page"].next:
            break
        place = response.context["next_query"]
    assert seen == names
    assert "7–7 of 7" in response.content.decode()
    back = []
    for _ in range(3):
        response = responder.get("/" + response.context["previous_query"])
        back.append(titles(response))
    assert back == [["e", "f"], ["c", "d"], ["a", "b"]]


def test_a_page_of_which_all_was_resolved_shows_the_first(pages_of_two, responder: Client):
    found = [IncidentFactory(title=letter) for letter in "abc"]
    there = responder.get("/").context["next_query"]
    services.resolve(actor=actor(), incident=found[2], resolution=Resolution.OTHER)
    response = responder.get(f"/{there}")
    assert titles(response) == ["a", "b"]
    assert "No incident fits" not in response.content.decode()
