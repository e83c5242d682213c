"""The one place where permission is asked, by page, API, admin site and service alike."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from incidents.choices import Role, Source
from incidents.exceptions import NotAllowed
from incidents.reach import EVERYWHERE, Reach


class Capability(StrEnum):
    """Something that a person or program may do. Token scopes are written in these words."""

    READ = "read"
    RESPOND = "respond"
    REGISTER_JOBS = "register_jobs"
    EDIT_TAXONOMY = "edit_taxonomy"
    OPERATE = "operate"
    EXECUTE = "execute"
    ADMINISTER = "administer"


CAPABILITIES: Mapping[Role, frozenset[Capability]] = {
    Role.VIEWER: frozenset({Capability.READ}),
    Role.RESPONDER: frozenset({Capability.READ, Capability.RESPOND}),
    Role.TAXONOMIST: frozenset({Capability.READ, Capability.EDIT_TAXONOMY}),
    Role.OPERATOR: frozenset(
        {
            Capability.READ,
            Capability.RESPOND,
            Capability.REGISTER_JOBS,
            Capability.OPERATE,
            Capability.EXECUTE,
        }
    ),
    Role.ADMIN: frozenset(Capability),
}

#: What is not given in parts: it is about people and knowledge that all clusters share.
_EVERYWHERE_ONLY = frozenset({Capability.ADMINISTER, Capability.EDIT_TAXONOMY})

#: The roles that work in the admin site.
STAFF_ROLES = frozenset({Role.TAXONOMIST, Role.OPERATOR, Role.ADMIN})


class Limited(Protocol):
    """What reach needs to know of a person or token."""

    clusters: list[str]
    owners: list[str]


class Person(Protocol):
    """What permission needs to know of a user."""

    pk: int
    role: str
    is_active: bool
    clusters: list[str]
    owners: list[str]

    def get_username(self) -> str: ...


class Token(Protocol):
    """What permission needs to know of an API token."""

    pk: int
    name: str
    scopes: list[str]
    clusters: list[str]
    owners: list[str]

    @property
    def owner(self) -> Person: ...


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something, with what rights, through which door.

    `scopes` of None means no narrowing; otherwise only capabilities in both role and scopes count.
    """

    role: Role
    label: str
    source: Source
    user_id: int | None = None
    token_id: int | None = None
    scopes: frozenset[Capability] | None = None
    reach: Reach = EVERYWHERE

    @classmethod
    def of_user(cls, user: Person, *, source: Source) -> "Actor":
        """The actor for a signed-in person. Someone deactivated may do nothing."""
        scopes = None if user.is_active else frozenset[Capability]()
        role, label = Role(user.role), user.get_username()
        return cls(
            role=role,
            label=label,
            source=source,
            user_id=user.pk,
            scopes=scopes,
            reach=reach_of(user),
        )

    @classmethod
    def of_token(cls, token: Token, *, source: Source = Source.API) -> "Actor":
        """The actor for a program: its owner's role, narrowed to the token's scopes."""
        owner = token.owner
        known = {Capability(scope) for scope in token.scopes if scope in set(Capability)}
        return cls(
            role=Role(owner.role),
            label=f"{owner.get_username()} ({token.name})",
            source=source,
            user_id=owner.pk,
            token_id=token.pk,
            scopes=frozenset(known) if owner.is_active else frozenset(),
            reach=reach_of(owner).within(reach_of(token)),
        )

    @classmethod
    def system(cls, label: str = "aegis", *, source: Source = Source.SYSTEM) -> "Actor":
        """Aegis itself: workers, sweeper and management commands."""
        return cls(role=Role.ADMIN, label=label, source=source)

    @property
    def capabilities(self) -> frozenset[Capability]:
        granted = CAPABILITIES[self.role]
        if self.reach.is_limited:
            granted -= _EVERYWHERE_ONLY
        return granted if self.scopes is None else granted & self.scopes

    def may(self, capability: Capability) -> bool:
        return capability in self.capabilities

    def require(self, capability: Capability) -> None:
        """Raises `NotAllowed`, which says what is needed, where the actor may not do this."""
        if self.may(capability):
            return
        if self.reach.is_limited and capability in _EVERYWHERE_ONLY & CAPABILITIES[self.role]:
            raise NotAllowed(f"{self.label} is limited to clusters or owners; this is for all.")
        if capability in CAPABILITIES[self.role]:
            raise NotAllowed(f"{self.label} needs a token with the scope '{capability}' for this.")
        roles = ", ".join(role.label.lower() for role in roles_with(capability))
        raise NotAllowed(
            f"{self.label} has the role {self.role.label.lower()}; this needs: {roles}."
        )


@dataclass(frozen=True, slots=True)
class RoleRule:
    """Which role the provider's groups give.

    Where `roles` is empty the provider says nothing about roles: new people get `default`, and
    what an administrator gives them stays.
    """

    claim: str
    roles: Mapping[str, Role]
    default: Role

    def role_of(self, claims: Mapping[str, object]) -> Role:
        """The most powerful role among those of someone's groups."""
        given = claims.get(self.claim)
        names = given if isinstance(given, list) else [given]
        held = {self.roles[name] for name in names if isinstance(name, str) and name in self.roles}
        return max(held, key=list(Role).index, default=self.default)


def reach_of(limited: Limited) -> Reach:
    """How far a person or token reaches, by what is written down for it."""
    return Reach.of(clusters=limited.clusters, owners=limited.owners)


def roles_with(capability: Capability) -> Iterable[Role]:
    """The roles that may do this, from the least to the most powerful."""
    return [role for role in Role if capability in CAPABILITIES[role]]
