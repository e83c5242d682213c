"""Who an identity provider says that someone is, as a person here."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from incidents.choices import Role, Source
from incidents.exceptions import NotAllowed, RecordsError
from incidents.models import User
from incidents.roles import Actor, RoleRule
from incidents.services.events import record
from incidents.services.people import set_role

_ACTOR = Actor.system("single sign-on", source=Source.BROWSER)


@dataclass(frozen=True, slots=True)
class Identity:
    """Someone at a provider: `subject` never changes there, everything else may."""

    subject: str
    name: str
    email: str
    email_verified: bool


def sign_on(*, identity: Identity, claims: Mapping[str, object], rule: RoleRule) -> User:
    """The person for an identity: known by subject, else by verified e-mail, else new.

    Raises `NotAllowed`, noted as `user.refused`, where that would give someone another's account.
    """
    role, follows = rule.role_of(claims), bool(rule.roles)
    try:
        try:
            return _admit(identity, role, follows=follows)
        except (IntegrityError, NotAllowed):
            # Refused, or only outrun by another first sign-on of the same person: looked at anew.
            return _admit(identity, role, follows=follows)
    except NotAllowed as error:
        record(
            actor=_ACTOR,
            verb="user.refused",
            text=f"{identity.name or identity.subject} was not let in: {error}",
            data={"subject": identity.subject},
        )
        raise


@transaction.atomic
def _admit(identity: Identity, role: Role, *, follows: bool) -> User:
    person = User.objects.select_for_update().filter(sign_on_subject=identity.subject).first()
    person = person or _linked(identity)
    if person is None:
        return _added(identity, role)
    if not person.is_active:
        raise NotAllowed("The account is switched off.")
    if identity.email and identity.email_verified and person.email != identity.email:
        person.email = identity.email
        person.save(update_fields=["email"])
        _note("user.changed", f"{person} has another e-mail address", person)
    if follows and person.role != role:
        return _with_role(person, role)
    return person


def _linked(identity: Identity) -> User | None:
    """Someone here with the same e-mail address, from now on known by the identity."""
    if not identity.email:
        return None
    people = list(User.objects.select_for_update().filter(email__iexact=identity.email)[:2])
    if not people:
        return None
    if not identity.email_verified:
        raise NotAllowed("The provider has not verified the e-mail address of an account here.")
    if len(people) > 1 or people[0].sign_on_subject:
        raise NotAllowed("The e-mail address belongs to another account here.")
    person = people[0]
    if not person.is_active:
        raise NotAllowed("The account is switched off.")
    person.sign_on_subject = identity.subject
    person.save(update_fields=["sign_on_subject"])
    _note("user.linked", f"{person} now signs in with single sign-on as well", person)
    return person


def _added(identity: Identity, role: Role) -> User:
    if not identity.name:
        raise NotAllowed("The provider does not say the person's name.")
    if User.objects.filter(username__iexact=identity.name).exists():
        raise NotAllowed("The name belongs to another account; give that one the e-mail address.")
    person = User(
        username=identity.name,
        email=identity.email if identity.email_verified else "",
        sign_on_subject=identity.subject,
        role=role,
    )
    person.set_unusable_password()
    try:
        person.full_clean()
    except ValidationError as error:
        raise NotAllowed(f"The provider's name or e-mail cannot be taken: {error}") from error
    person.save()
    _note("user.added", f"User {person} added by single sign-on as {role.label.lower()}", person)
    return person


def _with_role(person: User, role: Role) -> User:
    """The role that the groups give; the last administrator keeps theirs and is let in."""
    try:
        return set_role(actor=_ACTOR, user=person, role=role)
    except RecordsError:
        return person


def _note(verb: str, text: str, person: User) -> None:
    record(actor=_ACTOR, verb=verb, text=text, data={"user": person.pk, "role": person.role})
