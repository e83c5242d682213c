"""The one place where permission is asked, by page, API, admin site and service alike."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from incidents.choices import Role, Source
from incidents.exceptions import NotAllowed


class Capability(StrEnum):
    """Something that a person or program may do. Token scopes are written in these words."""

    READ = "read"
    RESPOND = "respond"
    REGISTER_JOBS = "register_jobs"
    EDIT_TAXONOMY = "edit_taxonomy"
    OPERATE = "operate"
    ADMINISTER = "administer"


CAPABILITIES: Mapping[Role, frozenset[Capability]] = {
    Role.VIEWER: frozenset({Capability.READ}),
    Role.RESPONDER: frozenset({Capability.READ, Capability.RESPOND}),
    Role.TAXONOMIST: frozenset({Capability.READ, Capability.EDIT_TAXONOMY}),
    Role.OPERATOR: frozenset(
        {Capability.READ, Capability.RESPOND, Capability.REGISTER_JOBS, Capability.OPERATE}
    ),
    Role.ADMIN: frozenset(Capability),
}

#: The roles that work in the admin site.
STAFF_ROLES = frozenset({Role.TAXONOMIST, Role.OPERATOR, Role.ADMIN})


class Person(Protocol):
    """What permission needs to know of a user."""

    pk: int
    role: str
    is_active: bool

    def get_username(self) -> str: ...


class Token(Protocol):
    """What permission needs to know of an API token."""

    pk: int
    name: str
    scopes: list[str]

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

    @classmethod
    def of_user(cls, user: Person, *, source: Source) -> "Actor":
        """The actor for a signed-in person. Someone deactivated may do nothing."""
        scopes = None if user.is_active else frozenset[Capability]()
        role, label = Role(user.role), user.get_username()
        return cls(role=role, label=label, source=source, user_id=user.pk, scopes=scopes)

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
        )

    @classmethod
    def system(cls, label: str = "aegis", *, source: Source = Source.SYSTEM) -> "Actor":
        """Aegis itself: workers, sweeper and management commands."""
        return cls(role=Role.ADMIN, label=label, source=source)

    @property
    def capabilities(self) -> frozenset[Capability]:
        granted = CAPABILITIES[self.role]
        return granted if self.scopes is None else granted & self.scopes

    def may(self, capability: Capability) -> bool:
        return capability in self.capabilities

    def require(self, capability: Capability) -> None:
        """Raises `NotAllowed`, which says what is needed, where the actor may not do this."""
        if self.may(capability):
            return
        if capability in CAPABILITIES[self.role]:
            raise NotAllowed(f"{self.label} needs a token with the scope '{capability}' for this.")
        roles = ", ".join(role.label.lower() for role in roles_with(capability))
        raise NotAllowed(f"{self.label} is {self.role.label.lower()}; this needs: {roles}.")


def roles_with(capability: Capability) -> Iterable[Role]:
    """The roles that may do this, from the least to the most powerful."""
    return [role for role in Role if capability in CAPABILITIES[role]]
