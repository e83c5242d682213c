"""Steps on several incidents from the desk, and the undo that a notice offers."""

import json
from collections.abc import Sequence

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from incidents.models import Batch, Incident, User
from incidents.services import batches
from tests.factories import IncidentFactory, UserFactory

HTMX = {"HX-Request": "true"}


def take(client: Client, incidents: Sequence[Incident], do: str, **given):
    body = {"incident": [one.pk for one in incidents], "do": do, **given}
    return client.post("/incidents/change", body, headers=HTMX)


def states(incidents: Sequence[Incident]) -> set[str]:
    keys = [one.pk for one in incidents]
    return set(Incident.objects.filter(pk__in=keys).values_list("status", flat=True))


def take_matching(client: Client, address: str, do: str = "acknowledge", **given):
    """The step on all that a list's filters find, by what its page tells of them."""
    page = client.get(address).context
    body = {"matching": page["first_query"], "newest": page["summary"].newest, "do": do, **given}
    return client.post("/incidents/change", body, headers=HTMX)


@pytest.fixture
def two(db) -> list[Incident]:
    return [IncidentFactory(), IncidentFactory()]


def test_the_notice_of_a_step_leads_to_its_undo(responder: Client, two: list[Incident]):
    notice = json.loads(take(responder, two, "acknowledge")["HX-Trigger"])["notice"]
    assert states(two) == {"acknowledged"}
    responder.post(notice["undo"], headers=HTMX)
    assert states(two) == {"triggered"}


def test_an_undo_names_the_rows_that_it_brings_back(responder: Client, two: list[Incident]):
    source, target = two
    take(responder, two, "merge", into=target.reference)
    answer = responder.post(f"/changes/{Batch.objects.get().pk}/undo", headers=HTMX)
    assert json.loads(answer["HX-Trigger"])["changed"]["incidents"] == [source.pk]


def test_undone_twice_is_told(responder: Client, two: list[Incident]):
    take(responder, two, "acknowledge")
    address = f"/changes/{Batch.objects.get().pk}/undo"
    responder.post(address, headers=HTMX)
    assert responder.post(address, headers=HTMX).status_code == 409


def test_several_are_given_to_someone(responder: Client, two: list[Incident]):
    ben = UserFactory(username="ben")
    take(responder, two, "assign", assignee="ben")
    assert Incident.objects.filter(assignee=ben).count() == 2


@pytest.mark.parametrize(
    ("do", "given"),
    [
        ("assign", {"assignee": "ghost"}),
        ("snooze-9y", {}),
        ("merge", {"into": "INC-9999"}),
        ("merge", {"into": ""}),
        ("resolve", {}),
    ],
)
def test_what_makes_no_sense_is_refused(do: str, given, responder: Client, two: list[Incident]):
    assert take(responder, two, do, **given).status_code == 422
    assert states(two) == {"triggered"}


@pytest.mark.parametrize("choice", ["1h", "news"])
def test_snoozed_ones_leave_the_desk_and_are_asked_for(
    choice: str, responder: Client, two: list[Incident]
):
    take(responder, two, f"snooze-{choice}")
    assert len(responder.get("/").context["rows"]) == 0
    assert len(responder.get("/?snoozed=yes").context["rows"]) == 2


def test_several_are_merged_into_one_of_them(responder: Client, two: list[Incident]):
    source, target = two
    take(responder, two, "merge", into=target.reference)
    source.refresh_from_db()
    assert source.merged_into == target


def test_a_desk_on_which_a_snooze_ends_is_a_new_one(responder: Client, two: list[Incident]):
    take(responder, two[:1], "snooze-1h")
    first = responder.get("/", headers=HTMX)
    Incident.objects.filter(pk=two[0].pk).update(snoozed_until="2020-01-01T00:00:00Z")
    again = responder.get("/", headers={**HTMX, "If-None-Match": first["ETag"]})
    assert again.status_code == 200


def test_a_viewer_changes_nothing(viewer: Client, two: list[Incident]):
    assert take(viewer, two, "acknowledge").status_code == 403


@pytest.fixture
def pages_of_two(monkeypatch) -> None:
    monkeypatch.setattr("incidents.views.desk.PAGE_SIZE", 2)


def test_a_step_takes_all_that_match_the_filter_and_no_others(
    pages_of_two, responder: Client, anna: User
):
    wanted = [IncidentFactory(severity="low") for _ in range(5)]
    others = [
        IncidentFactory(severity="high"),
        IncidentFactory(severity="low", status="mitigated", snoozed_for_news=True),
    ]
    answer = take_matching(responder, "/?severity=low", "take")
    assert set(Incident.objects.filter(assignee=anna)) == set(wanted)
    assert Incident.objects.filter(assignee=None).count() == len(others)
    notice = json.loads(answer["HX-Trigger"])["notice"]
    assert notice["text"] == "5 incidents assigned."
    responder.post(notice["undo"], headers=HTMX)
    assert not Incident.objects.exclude(assignee=None).exists()


def test_what_arrived_after_the_list_was_shown_is_left_alone(responder: Client):
    IncidentFactory()
    page = responder.get("/").context
    later = IncidentFactory()
    body = {"matching": page["first_query"], "newest": page["summary"].newest, "do": "acknowledge"}
    responder.post("/incidents/change", body, headers=HTMX)
    assert set(Incident.objects.filter(status="triggered")) == {later}


def test_of_more_than_one_step_takes_the_worst_are_taken(monkeypatch, responder: Client):
    monkeypatch.setattr(batches, "MOST", 2)
    (mild, *worse) = [IncidentFactory(severity=one) for one in ("low", "high", "high")]
    take_matching(responder, "/")
    assert (states([mild]), states(worse)) == ({"triggered"}, {"acknowledged"})


def test_all_that_match_are_those_within_reach(db):
    near, far = IncidentFactory(cluster__name="near"), IncidentFactory(cluster__name="far")
    client = Client()
    client.force_login(UserFactory(clusters=["near"]))
    take_matching(client, "/")
    assert (states([near]), states([far])) == ({"acknowledged"}, {"triggered"})


@pytest.mark.parametrize(
    "given",
    [
        {"matching": "?severity=purple", "newest": "99"},
        {"matching": "?severity=low", "newest": ""},
        {"matching": "?severity=low", "newest": "x"},
        {"matching": "?status=resolved", "newest": "99"},
    ],
)
def test_filters_that_make_no_sense_or_find_nothing_change_nothing(
    given: dict[str, str], responder: Client, two: list[Incident]
):
    body = {**given, "do": "acknowledge"}
    assert responder.post("/incidents/change", body, headers=HTMX).status_code == 422
    assert states(two) == {"triggered"}


def test_a_viewer_changes_nothing_that_matches(viewer: Client, two: list[Incident]):
    assert take_matching(viewer, "/").status_code == 403


def test_finding_all_that_match_takes_the_same_queries_however_many(responder: Client):
    def queries(kind: str, count: int) -> int:
        for _ in range(count):
            IncidentFactory(kind=kind)
        with CaptureQueriesContext(connection) as captured:
            take_matching(responder, f"/?kind={kind}", "take")
        return len(captured)

    queries("check", 1)
    few, many, more = queries("hang", 2), queries("crash", 12), queries("none", 22)
    assert more - many == many - few


def notice_of(answer) -> dict[str, str]:
    found: dict[str, str] = json.loads(answer["HX-Trigger"])["notice"]
    return found


def test_those_that_refuse_for_one_reason_are_told_of_together(responder: Client):
    known = [IncidentFactory(status="acknowledged") for _ in range(5)]
    gone = IncidentFactory(status="mitigated")
    new = [IncidentFactory() for _ in range(2)]
    notice = notice_of(take(responder, [*known, gone, *new], "acknowledge"))
    first = ", ".join(one.reference for one in known[:3])
    assert notice["level"] == "success"
    assert notice["text"] == (
        f"2 of 8 acknowledged. {first} and 2 more: It is acknowledged already. Possible: mitigate, "
        f"resolve. {gone.reference}: It is mitigated, so it cannot be acknowledged. Possible: "
        "resolve, reopen."
    )


def test_a_step_that_all_refuse_is_no_success(responder: Client):
    known = [IncidentFactory(status="acknowledged") for _ in range(2)]
    notice = notice_of(take(responder, known, "acknowledge"))
    assert (notice["level"], notice["text"][:20]) == ("warning", "0 of 2 acknowledged.")
    assert "undo" not in notice


def test_a_step_on_very_many_asks_the_page_to_show_all_anew(monkeypatch, responder: Client):
    monkeypatch.setattr("incidents.views.answers._NAMED_ROWS", 2)
    found = [IncidentFactory() for _ in range(3)]
    answer = take(responder, found, "acknowledge")
    assert json.loads(answer["HX-Trigger"])["changed"] == {"all": True}
