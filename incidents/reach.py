"""How far someone's rights go: to which clusters and owners. Asked in one place, by everything.

The reach of whoever acts is set where they are recognised: by the middleware for a session, by
the API for a token. The managers of the records (`incidents.models.managers`) show only what lies
within it, so that a page, an endpoint, the admin site and a service cannot forget to ask. Workers
and commands reach everywhere.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from incidents.exceptions import NotAllowed


@dataclass(frozen=True, slots=True)
class Reach:
    """Clusters by name, owners of jobs by name; None is no limit."""

    clusters: frozenset[str] | None = None
    owners: frozenset[str] | None = None

    @classmethod
    def of(cls, *, clusters: Iterable[str], owners: Iterable[str]) -> "Reach":
        """From what is written down for a person or token, where nothing means no limit."""
        return cls(frozenset(clusters) or None, frozenset(owners) or None)

    @property
    def is_limited(self) -> bool:
        return self.clusters is not None or self.owners is not None

    def within(self, other: "Reach") -> "Reach":
        """What both reach."""
        return Reach(_both(self.clusters, other.clusters), _both(self.owners, other.owners))

    def require_cluster(self, cluster: str | None) -> None:
        """Raises `NotAllowed` for a cluster outside; None stands for all of them."""
        if self.clusters is not None and cluster not in self.clusters:
            raise NotAllowed(f"This is limited to clusters: {', '.join(sorted(self.clusters))}.")

    def require_owner(self, owner: str) -> None:
        """Raises `NotAllowed` for jobs of someone outside."""
        if self.owners is not None and owner not in self.owners:
            raise NotAllowed(f"This is limited to jobs of: {', '.join(sorted(self.owners))}.")

    def give(self, wanted: "Reach") -> "Reach":
        """What is given to someone who is to have `wanted`: that, or at most as much as this.

        Raises `NotAllowed` for what lies outside.
        """
        given = wanted.within(self)
        for asked, got in ((wanted.clusters, given.clusters), (wanted.owners, given.owners)):
            if asked is not None and got != asked:
                raise NotAllowed("Nobody gives away more than they reach themselves.")
        return given


EVERYWHERE = Reach()
_current: ContextVar[Reach] = ContextVar("reach", default=EVERYWHERE)


def current() -> Reach:
    """The reach of whoever acts now."""
    return _current.get()


def limit(reach: Reach) -> None:
    """Limits what follows, inside of `within`."""
    _current.set(reach)


@contextmanager
def within(reach: Reach) -> Iterator[None]:
    """Everything inside acts with this reach; afterwards it is as before."""
    token = _current.set(reach)
    try:
        yield
    finally:
        _current.reset(token)


def _both(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other
