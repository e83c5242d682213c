"""Views of the desk under a name: kept, shared, chosen as one's first page."""

from django.db import transaction
from django.http import QueryDict

from incidents.exceptions import InvalidInput, NotAllowed
from incidents.models import SavedView, User
from incidents.roles import Actor, Capability
from incidents.services.events import record

#: What of an address is no filter.
_NO_FILTER = frozenset({"after", "view", "csrfmiddlewaretoken"})
_LONGEST_NAME, _LONGEST_QUERY = 60, 1000


@transaction.atomic
def save_view(
    *, actor: Actor, owner: User, name: str, query: str, shared: bool = False, first: bool = False
) -> SavedView:
    """Keeps the filters under a name; the same name again replaces the view.

    `first` makes it the owner's first page. Sharing needs a role that acts on incidents.
    """
    actor.require(Capability.RESPOND if shared else Capability.READ)
    name, query = name.strip(), filters_of(query)
    if not name or len(name) > _LONGEST_NAME:
        raise InvalidInput(
            f"A view needs a name of at most {_LONGEST_NAME} characters.", field="name"
        )
    if len(query) > _LONGEST_QUERY:
        raise InvalidInput("These filters are too long to keep.", field="query")
    view, _ = SavedView.objects.update_or_create(
        owner=owner, name=name, defaults={"query": query, "shared": shared}
    )
    _record(actor, view, "view.saved", "saved and shared" if shared else "saved")
    if first:
        make_first(actor=actor, person=owner, view=view)
    return view


@transaction.atomic
def share_view(*, actor: Actor, view: SavedView, shared: bool) -> SavedView:
    """Shows a view to everybody, or to its owner alone."""
    actor.require(Capability.RESPOND)
    _require_owner(actor, view)
    view.shared = shared
    view.save(update_fields=["shared", "updated_at"])
    if not shared:
        User.objects.filter(default_view=view).exclude(pk=view.owner_id).update(default_view=None)
    _record(actor, view, "view.shared", "shared" if shared else "no longer shared")
    return view


@transaction.atomic
def delete_view(*, actor: Actor, view: SavedView) -> None:
    """Deletes a view; whoever began with it begins with all open incidents again."""
    actor.require(Capability.READ)
    _require_owner(actor, view)
    _record(actor, view, "view.deleted", "deleted")
    view.delete()


@transaction.atomic
def make_first(*, actor: Actor, person: User, view: SavedView | None) -> None:
    """Makes a view somebody's first page; None for all open incidents."""
    actor.require(Capability.READ)
    if view is not None and not view.shared and view.owner_id != person.pk:
        raise NotAllowed("This view belongs to someone else.")
    User.objects.filter(pk=person.pk).update(default_view=view)
    person.default_view = view
    what = view.name if view else "all open incidents"
    record(
        actor=actor,
        verb="view.first",
        text=f"{person.get_username()} begins with the view {what}",
        data={"view": view.pk if view else None},
    )


def filters_of(query: str) -> str:
    """The filters of an address, without place in the list and empty ones."""
    given = QueryDict(query.strip().removeprefix("?"))
    kept = QueryDict(mutable=True)
    for name, value in given.items():
        if value and name not in _NO_FILTER:
            kept[name] = str(value)
    return kept.urlencode()


def _require_owner(actor: Actor, view: SavedView) -> None:
    if view.owner_id != actor.user_id and not actor.may(Capability.ADMINISTER):
        raise NotAllowed(f"This view belongs to {view.owner.get_username()}.")


def _record(actor: Actor, view: SavedView, verb: str, did: str) -> None:
    data = {"view": view.pk, "query": view.query, "shared": view.shared}
    record(actor=actor, verb=verb, text=f"View {view} {did}", data=data)
