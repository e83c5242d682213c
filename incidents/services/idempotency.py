"""A request that is sent twice acts once: the first claims its key, later ones get its answer."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from incidents.exceptions import IdempotencyMismatch, RequestInFlight
from incidents.models import IdempotencyKey
from incidents.roles import Actor

#: How long an answer is kept; afterwards the key is free again.
KEPT_FOR = timedelta(hours=24)
#: A claim older than this was left by a process that died, and is taken over.
CLAIM_HOLDS = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to carry the request out, and the duty to `finish` or `release`."""

    pk: int
    holder: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the request with this key was answered with."""

    fingerprint: str
    status: int
    body: Any
    headers: Mapping[str, str]


def begin(*, actor: Actor, key: str, fingerprint: str = "") -> Claim | Answer:
    """Claims a key, or gives the answer that it stands for.

    `fingerprint` may be empty for a streamed body; the caller then compares the answer's. Raises
    `RequestInFlight` or `IdempotencyMismatch`.
    """
    now = timezone.now()
    IdempotencyKey.objects.filter(claimed_at__lt=now - KEPT_FOR).delete()
    claim = uuid.uuid4().hex
    with transaction.atomic():
        row, created = IdempotencyKey.objects.get_or_create(
            actor=_name(actor), key=key, defaults={"claim": claim, "fingerprint": fingerprint}
        )
    if created:
        return Claim(row.pk, claim)
    if fingerprint and row.fingerprint:
        check_same(row.fingerprint, fingerprint)
    if row.status is not None:
        return Answer(row.fingerprint, row.status, row.body, row.headers)
    abandoned = IdempotencyKey.objects.filter(
        pk=row.pk, claim=row.claim, status=None, claimed_at__lt=now - CLAIM_HOLDS
    )
    if not abandoned.update(claim=claim, fingerprint=fingerprint, claimed_at=now):
        raise RequestInFlight("Another request with this Idempotency-Key has not ended yet.")
    return Claim(row.pk, claim)


def check_same(known: str, given: str) -> None:
    """Raises `IdempotencyMismatch` where a key comes with another request than before."""
    if known != given:
        raise IdempotencyMismatch(
            "This Idempotency-Key stands for another request; a new request needs a new key."
        )


def finish(
    claim: Claim, *, fingerprint: str, status: int, body: Any, headers: Mapping[str, str]
) -> None:
    """Keeps the answer. Raises `RequestInFlight` where another request took the claim over."""
    kept = IdempotencyKey.objects.filter(pk=claim.pk, claim=claim.holder, status=None).update(
        fingerprint=fingerprint, status=status, body=body, headers=dict(headers)
    )
    if not kept:
        raise RequestInFlight("The request took so long that another one took it over.")


def release(claim: Claim) -> None:
    """Frees the key of a request that failed, so that it can be sent again, mended or not."""
    IdempotencyKey.objects.filter(pk=claim.pk, claim=claim.holder, status=None).delete()


def _name(actor: Actor) -> str:
    if actor.token_id is not None:
        return f"token:{actor.token_id}"
    return f"user:{actor.user_id}"
