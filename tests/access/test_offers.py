"""What pages offer is what the role of whoever looks may do: no form or link ends in a 403."""

import re
from collections.abc import Iterable

import pytest
from django.test import Client

from incidents.choices import BatchStep, Role, Source
from incidents.models import Incident, User
from incidents.roles import Actor
from incidents.services import batches
from incidents.services.batches import Wanted
from incidents.services.snoozing import snooze
from tests.access.endpoints import Cell
from tests.access.offered import offered
from tests.access.pages import PAGES
from tests.access.world import Names
from tests.factories import (
    EvidenceFactory,
    IncidentFactory,
    RecommendationFactory,
    UserFactory,
    actor,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def busy(own: Names) -> Names:
    """The records with all that brings forms along: what waits, sleeps, is resolved or merged."""
    incident = Incident.objects.get(pk=str(own["incident"]))
    RecommendationFactory(diagnosis_id=own["diagnosis"], position=2, target_host="n2")
    EvidenceFactory(incident=incident)
    merged, asleep, over = (IncidentFactory(cluster=incident.cluster) for _ in range(3))
    wanted = Wanted(step=BatchStep.MERGE, into=incident)
    batches.change_many(actor=actor(), incidents=[merged], wanted=wanted)
    snooze(actor=actor(), incident=asleep)
    wanted = Wanted(step=BatchStep.RESOLVE, resolution="other")
    batches.change_many(actor=actor(), incidents=[over], wanted=wanted)
    return {**own, "asleep": asleep.pk, "over": over.pk}


def pages_of(names: Names) -> Iterable[str]:
    """The path of every page, and of incidents that stand otherwise than the first."""
    addresses = [cell.address for cell in PAGES if cell.method == "GET"]
    addresses += [f"incidents/{{{name}}}" for name in ("second", "asleep", "over")]
    return ["/" + address.format(**names) for address in addresses]


def cell_of(method: str, path: str) -> Cell | None:
    """What the table says about this address."""
    for cell in PAGES:
        pattern = re.sub(r"\\{\w+\\}", "[^/.]+", re.escape(f"/{cell.address}"))
        if cell.method == method and re.fullmatch(pattern, path):
            return cell
    return None


def refused(client: Client, user: User, method: str, path: str) -> bool:
    """Whether this role would be told that it may not: by the table, else by asking."""
    cell = cell_of(method, path)
    if cell is not None:
        return not Actor.of_user(user, source=Source.BROWSER).may(cell.needs)
    asked = client.get if method == "GET" else client.post
    return path != "/logout" and asked(path).status_code == 403


@pytest.mark.parametrize("clusters_of_person", [[], ["own"]], ids=["everywhere", "limited"])
@pytest.mark.parametrize("role", Role)
def test_no_form_or_link_that_is_shown_would_be_refused(
    role: Role, clusters_of_person: list[str], busy: Names
):
    user = UserFactory(role=role, clusters=clusters_of_person)
    client = Client()
    client.force_login(user)
    seen: dict[tuple[str, str], str] = {}
    for page in pages_of(busy):
        answer = client.get(page, follow=True)
        if answer.status_code == 200 and answer["Content-Type"].startswith("text/html"):
            for offer in offered(page, answer.content.decode()):
                seen.setdefault(offer, page)
    wrong = [
        f"{page}: {how} {path}"
        for (how, path), page in seen.items()
        if path.startswith("/") and refused(client, user, how, path)
    ]
    assert wrong == []


def test_who_may_is_offered_what_the_others_are_not(busy: Names):
    def shown(role: Role) -> set[str]:
        client = Client()
        client.force_login(UserFactory(role=role))
        pages = [f"/incidents/{busy['incident']}", f"/offline/{busy['offline']}"]
        offers = [offered(page, client.get(page).content.decode()) for page in pages]
        return {path for how, path in set().union(*offers) if how == "POST"}

    incident = f"/incidents/{busy['incident']}"
    responds = {f"{incident}/{step}" for step in ("note", "resolve", "merge", "evidence")}
    operates = {f"/offline/{busy['offline']}/answer"}
    assert shown(Role.VIEWER) == {"/logout"}
    assert responds <= shown(Role.RESPONDER)
    assert not operates & shown(Role.RESPONDER)
    assert responds | operates <= shown(Role.OPERATOR)


@pytest.mark.parametrize("clusters_of_person", [[], ["own"]], ids=["everywhere", "limited"])
@pytest.mark.parametrize("role", [Role.TAXONOMIST, Role.OPERATOR, Role.ADMIN])
def test_no_link_of_the_settings_is_refused(role: Role, clusters_of_person: list[str]):
    client = Client()
    client.force_login(UserFactory(role=role, clusters=clusters_of_person))
    lists = settings_linked(client, "/admin/")
    further = {there for page in lists for there in settings_linked(client, page)}
    asked = [there for there in lists | further if client.get(there).status_code == 403]
    assert asked == []


def settings_linked(client: Client, page: str) -> set[str]:
    """The settings to which a page leads, without the single records: they are many, and alike."""
    links = offered(page, client.get(page).content.decode())
    paths = {path for how, path in links if how == "GET" and path.startswith("/admin/")}
    return {path for path in paths if not re.search(r"\d|signatures/", path)}
