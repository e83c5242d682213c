"""Views of the desk: tabs, saving, sharing, one's first page."""

import pytest
from django.test import Client

from incidents.models import SavedView, User
from tests.factories import (
    DiagnosisFactory,
    IncidentFactory,
    RecommendationFactory,
    UserFactory,
)

HTMX = {"HX-Request": "true"}


def save(client: Client, **given):
    return client.post("/views/save", {"name": "hangs", "query": "kind=hang", **given})


def tab_names(client: Client, address: str = "/") -> list[str]:
    return [tab.name for tab in client.get(address).context["tabs"]]


def test_a_saved_view_is_a_tab_that_shows_its_incidents(responder: Client):
    IncidentFactory(title="wanted", kind="hang")
    IncidentFactory(title="other", kind="crash")
    page = responder.get(save(responder)["Location"])
    assert [row.incident.title for row in page.context["rows"]] == ["wanted"]
    assert [tab.name for tab in page.context["tabs"] if tab.on] == ["hangs"]


def test_a_live_page_is_led_to_the_view(responder: Client):
    answer = responder.post("/views/save", {"name": "a", "query": "kind=hang"}, headers=HTMX)
    assert answer["HX-Redirect"].startswith("/?kind=hang&view=")


def test_a_shared_view_is_everybodys_tab_and_an_own_one_is_not(responder: Client, viewer: Client):
    save(responder, name="ours", shared="on")
    save(responder, name="mine")
    assert "ours" in tab_names(viewer)
    assert "mine" not in tab_names(viewer)


def test_the_desk_begins_with_ones_first_view(responder: Client):
    save(responder, first="on")
    address = responder.get("/")["Location"]
    assert address.startswith("/?kind=hang&view=")


def test_with_filters_the_first_view_stays_away(responder: Client):
    save(responder, first="on")
    assert responder.get("/?status=open").status_code == 200


@pytest.mark.parametrize(
    ("do", "shared", "first", "left"),
    [
        ("share", True, False, 1),
        ("first", False, True, 1),
        ("delete", None, False, 0),
    ],
)
def test_a_view_is_shared_chosen_or_deleted_on_its_page(
    do: str, shared: bool, first: bool, left: int, responder: Client, anna: User
):
    save(responder)
    view = SavedView.objects.get()
    responder.post(f"/views/{view.pk}", {"do": do})
    anna.refresh_from_db()
    assert SavedView.objects.count() == left
    assert (anna.default_view_id == view.pk) is first
    assert left == 0 or SavedView.objects.get().shared is shared


def test_someone_elses_own_view_is_not_found(responder: Client):
    view = SavedView.objects.create(name="x", owner=UserFactory(), query="")
    assert responder.post(f"/views/{view.pk}", {"do": "delete"}).status_code == 404


def test_the_page_of_views_names_filters_and_owner(responder: Client):
    save(responder)
    page = responder.get("/views").content.decode()
    assert "kind=hang" in page
    assert "anna" in page


def test_what_needs_a_decision_is_a_view_of_its_own(responder: Client):
    waiting, done = IncidentFactory(title="waits"), IncidentFactory(title="done")
    RecommendationFactory(diagnosis=DiagnosisFactory(incident=waiting, done=True))
    DiagnosisFactory(incident=done, done=True)
    rows = responder.get("/?undecided=yes").context["rows"]
    assert [row.incident.title for row in rows] == ["waits"]


def test_the_desk_takes_as_many_queries_however_many_views(
    responder: Client, anna: User, django_assert_max_num_queries
):
    for number in range(30):
        SavedView.objects.create(name=f"{number}", owner=anna, query="kind=hang")
    with django_assert_max_num_queries(14):
        responder.get("/?q=node")
