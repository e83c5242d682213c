"""Saved views: kept, shared, chosen as one's first page."""

import pytest

from incidents import selectors
from incidents.choices import Role, Source
from incidents.exceptions import InvalidInput, NotAllowed
from incidents.models import SavedView, User
from incidents.roles import Actor
from incidents.services.views import delete_view, filters_of, make_first, save_view, share_view
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def by(person: User) -> Actor:
    return Actor.of_user(person, source=Source.BROWSER)


def saved(owner: User, name: str = "hangs", **given) -> SavedView:
    query = given.pop("query", "kind=hang")
    return save_view(actor=by(owner), owner=owner, name=name, query=query, **given)


def test_only_filters_are_kept():
    assert filters_of("?kind=hang&after=abc&view=3&owner=&q=a%20b") == "kind=hang&q=a+b"


def test_the_same_name_again_replaces_the_view():
    anna = UserFactory()
    saved(anna)
    saved(anna, query="kind=crash")
    assert [view.query for view in SavedView.objects.all()] == ["kind=crash"]


def test_one_sees_ones_own_first_and_what_others_share():
    anna, ben = UserFactory(), UserFactory()
    saved(ben, "a shared one", shared=True)
    saved(ben, "bens own")
    saved(anna, "z mine")
    assert [view.name for view in selectors.views_for(anna)] == ["z mine", "a shared one"]


@pytest.mark.parametrize("name", ["", " ", "x" * 61])
def test_a_view_needs_a_name_that_fits(name: str):
    with pytest.raises(InvalidInput):
        saved(UserFactory(), name)


def test_a_viewer_keeps_views_and_shares_none():
    vera = UserFactory(role=Role.VIEWER)
    assert saved(vera).pk
    with pytest.raises(NotAllowed):
        saved(vera, "other", shared=True)


def test_a_first_view_is_what_ones_desk_begins_with():
    anna = UserFactory()
    view = saved(anna, first=True)
    assert User.objects.get(pk=anna.pk).default_view == view


def test_someone_elses_own_view_is_nobodys_first():
    anna, ben = UserFactory(), UserFactory()
    with pytest.raises(NotAllowed):
        make_first(actor=by(anna), person=anna, view=saved(ben))


def test_a_view_that_is_no_longer_shared_is_the_first_of_its_owner_alone():
    anna, ben = UserFactory(), UserFactory()
    view = saved(ben, shared=True, first=True)
    make_first(actor=by(anna), person=anna, view=view)
    share_view(actor=by(ben), view=view, shared=False)
    firsts = User.objects.filter(default_view=view)
    assert list(firsts) == [ben]


def test_a_view_is_its_owners_to_share_and_delete():
    view = saved(UserFactory(), shared=True)
    other = by(UserFactory())
    with pytest.raises(NotAllowed):
        share_view(actor=other, view=view, shared=False)
    with pytest.raises(NotAllowed):
        delete_view(actor=other, view=view)


def test_whose_first_view_is_deleted_begins_with_everything():
    anna = UserFactory()
    delete_view(actor=by(anna), view=saved(anna, first=True))
    assert User.objects.get(pk=anna.pk).default_view is None
