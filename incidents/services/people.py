"""People and their roles."""

from django.db import transaction

from incidents.choices import Role, Source
from incidents.exceptions import InvalidInput
from incidents.models import User
from incidents.roles import Actor, Capability
from incidents.services.events import record


@transaction.atomic
def set_role(*, actor: Actor, user: User, role: Role) -> User:
    """Gives someone another role. The last active administrator keeps theirs."""
    actor.require(Capability.ADMINISTER)
    user = User.objects.select_for_update().get(pk=user.pk)
    if role != Role.ADMIN and is_last_administrator(user):
        raise InvalidInput("Someone has to stay administrator.", field="role")
    user.role = role
    user.save(update_fields=["role"])
    record(
        actor=actor,
        verb="user.role",
        text=f"{user.get_username()} is now {Role(role).label.lower()}",
        data={"user": user.pk, "role": role},
    )
    return user


def is_last_administrator(user: User) -> bool:
    """Whether nobody else could let people in again."""
    administrators = User.objects.filter(role=Role.ADMIN, is_active=True)
    return list(administrators.values_list("pk", flat=True)[:2]) == [user.pk]


def login_failed(*, name: str, address: str) -> None:
    """Notes that someone could not log in. A name that nobody has is not repeated."""
    person = User.objects.filter(username__iexact=name).first() if name else None
    who = person.get_username() if person else "a name that nobody has"
    record(
        actor=Actor.system("log-in", source=Source.BROWSER),
        verb="user.login_failed",
        text=f"Log-in as {who} failed{f' from {address}' if address else ''}",
        data={"user": person.pk if person else None, "address": address},
    )


def sign_on_failed(*, address: str) -> None:
    """Notes that single sign-on failed before anyone was known."""
    record(
        actor=Actor.system("single sign-on", source=Source.BROWSER),
        verb="user.login_failed",
        text=f"Single sign-on failed{f' from {address}' if address else ''}",
        data={"user": None, "address": address},
    )


def password_changed(*, actor: Actor) -> None:
    """Notes that someone gave themselves another password."""
    record(actor=actor, verb="user.password", text=f"{actor.label} changed their password")
