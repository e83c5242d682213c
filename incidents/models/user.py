"""People."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models

from incidents.choices import Role
from incidents.models.constraints import one_of
from incidents.roles import STAFF_ROLES, Capability


class PeopleManager(UserManager["User"]):
    """Makes users; a superuser is an administrator."""

    def create_superuser(
        self,
        username: str,
        email: str | None = None,
        password: str | None = None,
        **extra_fields: Any,
    ) -> "User":
        extra_fields["role"] = Role.ADMIN
        return super().create_superuser(username, email, password, **extra_fields)


class User(AbstractUser):
    """A person or service with a role, from which Django's own flags follow."""

    edited_by: ClassVar[Capability] = Capability.ADMINISTER
    read_by: ClassVar[Capability] = Capability.ADMINISTER

    role = models.CharField(max_length=16, choices=Role.choices, default=Role.VIEWER)
    clusters = models.JSONField(default=list, blank=True, help_text="Names; empty: every cluster.")
    owners = models.JSONField(default=list, blank=True, help_text="Of jobs; empty: of everyone.")
    sign_on_subject = models.CharField(
        max_length=512,
        null=True,
        blank=True,
        unique=True,
        editable=False,
        help_text="Issuer and subject at the identity provider; empty: signs in by password.",
    )
    time_zone = models.CharField(max_length=64, blank=True)
    default_view = models.ForeignKey(
        "incidents.SavedView",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="default_of",
    )

    objects: ClassVar[PeopleManager] = PeopleManager()

    class Meta(AbstractUser.Meta):
        constraints = [one_of("role", Role, name="user_role_known")]

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        """Derives `is_staff` from the role. Nobody is `is_superuser`: Django asks for nothing more
        then, neither for the role nor for how far someone reaches.
        """
        self.is_staff = Role(self.role) in STAFF_ROLES
        self.is_superuser = False
        if update_fields is not None and "role" in set(update_fields):
            update_fields = {*update_fields, "is_staff", "is_superuser"}
        super().save(*args, update_fields=update_fields, **kwargs)
