"""People and their roles."""

from django.db import transaction

from incidents.choices import Role
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


def password_changed(*, actor: Actor) -> None:
    """Notes that someone gave themselves another password."""
    record(actor=actor, verb="user.password", text=f"{actor.label} changed their password")
