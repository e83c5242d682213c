"""API tokens: issued once, stored hashed, revoked for good."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from incidents.exceptions import InvalidInput, NotAllowed
from incidents.models import ApiToken, User
from incidents.reach import Reach
from incidents.roles import Actor, Capability
from incidents.services.events import record

_MARK = "aegis"
_USE_NOTED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token with its raw text, which is shown this once and never again."""

    token: ApiToken
    raw: str


@transaction.atomic
def issue(
    *,
    actor: Actor,
    owner: User,
    name: str,
    scopes: Iterable[str],
    expires_at: datetime,
    clusters: Iterable[str] = (),
    owners: Iterable[str] = (),
) -> IssuedToken:
    """Makes a token for `owner`. Nobody gives away more than they may do themselves.

    Where no clusters or owners are given, the token reaches as far as who makes it.
    """
    actor.require(Capability.OPERATE)
    wanted = grantable(actor=actor, scopes=scopes)
    if not name.strip():
        raise InvalidInput("A token needs a name.", field="name")
    if expires_at <= timezone.now():
        raise InvalidInput("The token would have expired already.", field="expires_at")
    limits = actor.reach.give(Reach.of(clusters=clusters, owners=owners))
    prefix, secret = secrets.token_hex(5), secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        name=name.strip(),
        owner=owner,
        prefix=prefix,
        secret_sha256=_hash(secret),
        scopes=sorted(wanted),
        clusters=sorted(limits.clusters or ()),
        owners=sorted(limits.owners or ()),
        created_by=actor.label,
        expires_at=expires_at,
    )
    record(
        actor=actor,
        verb="token.issued",
        text=f"Token {token} issued for {owner.get_username()}",
        data={"token": token.pk, "scopes": token.scopes},
    )
    return IssuedToken(token=token, raw=f"{_MARK}_{prefix}_{secret}")


@transaction.atomic
def revoke(*, actor: Actor, token: ApiToken) -> ApiToken:
    """Ends a token at once; doing it again changes nothing."""
    actor.require(Capability.OPERATE)
    ended = ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True).update(
        revoked_at=timezone.now()
    )
    token.refresh_from_db()
    if ended:
        record(
            actor=actor,
            verb="token.revoked",
            text=f"Token {token} revoked",
            data={"token": token.pk},
        )
    return token


def authenticate(*, raw: str) -> ApiToken | None:
    """The usable token that `raw` is, or None; notes its use, at most once a minute."""
    mark, _, rest = raw.strip().partition("_")
    prefix, _, secret = rest.partition("_")
    if mark != _MARK or not secret:
        return None
    token = ApiToken.objects.select_related("owner").filter(prefix=prefix).first()
    now = timezone.now()
    if token is None or not hmac.compare_digest(token.secret_sha256, _hash(secret)):
        return None
    if not token.is_usable(now) or not token.owner.is_active:
        return None
    if token.last_used_at is None or now - token.last_used_at > _USE_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def grantable(*, actor: Actor, scopes: Iterable[str]) -> frozenset[Capability]:
    """The scopes, known and within what the actor may do; `InvalidInput` or `NotAllowed` else."""
    try:
        wanted = frozenset(Capability(scope) for scope in scopes)
    except ValueError as error:
        known = ", ".join(Capability)
        raise InvalidInput(f"{error}; known scopes: {known}.", field="scopes") from error
    if not wanted:
        raise InvalidInput("A token needs at least one scope.", field="scopes")
    if beyond := wanted - actor.capabilities:
        raise NotAllowed(f"{actor.label} cannot give away: {', '.join(sorted(beyond))}.")
    return wanted


def _hash(secret: str) -> str:
    """SHA-256 is enough for 256 random bits; a slow hash is for what people choose."""
    return hashlib.sha256(secret.encode()).hexdigest()
