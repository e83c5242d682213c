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
    others = User.objects.filter(role=Role.ADMIN, is_active=True).exclude(pk=user.pk)
    if user.role == Role.ADMIN and role != Role.ADMIN and not others.exists():
        raise InvalidInput("Someone has to stay administrator.", field="role")
    user.role = role
    user.is_superuser = False
    user.save(update_fields=["role", "is_superuser"])
    record(
        actor=actor,
        verb="user.role",
        text=f"{user.get_username()} is now {Role(role).label.lower()}",
        data={"user": user.pk, "role": role},
    )
    return user
