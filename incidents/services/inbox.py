"""Messages of other systems: stored at once, taken in afterwards, in order, each once."""

import logging
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.utils import timezone

from incidents.alert_kinds import BUILT_IN, MAPPINGS
from incidents.alert_mapping import check, read
from incidents.choices import InboxKind, MessageState, Role, Source
from incidents.exceptions import RecordsError, StaleVersion
from incidents.models import Inbox, InboxMessage
from incidents.reach import current
from incidents.roles import Actor, Capability
from incidents.services import alerts
from incidents.services.events import record
from incidents.signals import message_came

logger = logging.getLogger(__name__)

_LEASE = timedelta(seconds=60)
#: How often a message is tried that breaks something on our side.
MOST_ATTEMPTS = 5
#: How long messages are kept after they were taken in.
KEPT_FOR = timedelta(days=7)


def inbox_named(name: str) -> Inbox | None:
    """The open inbox of this name; those of known systems are there without being set up."""
    if name in BUILT_IN:
        current().require_cluster(None)
        made, _ = Inbox.objects.get_or_create(name=name, defaults={"kind": InboxKind(name)})
        return made if made.enabled else None
    return Inbox.objects.filter(name=name, enabled=True).first()


@transaction.atomic
def receive(*, actor: Actor, inbox: Inbox, body: Any) -> InboxMessage:
    """Stores a message and asks for a worker. No event: what comes of it leaves one."""
    actor.require(Capability.RESPOND)
    message = InboxMessage.objects.create(
        inbox=inbox, body=body, actor=actor.label, user_id=actor.user_id
    )
    transaction.on_commit(partial(message_came.send, sender=InboxMessage, inbox_id=inbox.pk))
    return message


def take_in(inbox_id: int, *, owner: str) -> int:
    """Takes in what waits, oldest first, and tells how many. One worker at a time an inbox."""
    taken = 0
    while _claim(inbox_id, owner):
        message = (
            InboxMessage.objects.select_related("inbox__cluster")
            .filter(inbox=inbox_id, state=MessageState.WAITING)
            .order_by("id")
            .first()
        )
        if message is None:
            _release(inbox_id, owner)
            break
        _take(message)
        taken += 1
    return taken


def inboxes_due() -> list[int]:
    """The inboxes in which something waits that no worker holds; forgets what is long taken."""
    now = timezone.now()
    InboxMessage.objects.filter(state=MessageState.TAKEN, received_at__lt=now - KEPT_FOR).delete()
    waiting = Inbox.objects.filter(_free(now), messages__state=MessageState.WAITING)
    return list(waiting.distinct().values_list("pk", flat=True))


def mapping_of(inbox: Inbox) -> Mapping[str, str]:
    """How the inbox reads: by its own mapping, or by that of its kind."""
    return inbox.mapping or MAPPINGS[inbox.kind]


@transaction.atomic
def save_inbox(
    *,
    actor: Actor,
    inbox: Inbox,
    fields: Mapping[str, Any],
    expected_version: int | None = None,
) -> Inbox:
    """Sets an inbox up or changes it. Raises `InvalidInput` for a mapping that cannot work."""
    actor.require(Capability.OPERATE)
    if inbox.pk:
        inbox = Inbox.objects.select_for_update().get(pk=inbox.pk)
        if expected_version is not None and inbox.version != expected_version:
            raise StaleVersion(expected=expected_version, current=inbox.version)
        inbox.version += 1
    for field, value in fields.items():
        setattr(inbox, field, value)
    if inbox.mapping:
        check(inbox.mapping)
    actor.reach.require_cluster(inbox.cluster.name if inbox.cluster else None)
    did = "changed" if inbox.pk else "added"
    inbox.save()
    record(
        actor=actor,
        verb=f"inbox.{did}",
        text=f"Inbox {inbox} {did}",
        data={"inbox": inbox.pk, "fields": sorted(fields)},
    )
    return inbox


def _take(message: InboxMessage) -> None:
    """One message, all of it or nothing. A database that went away leaves it waiting."""
    actor = Actor(role=Role.ADMIN, label=message.actor, source=Source.API, user_id=message.user_id)
    inbox = message.inbox
    try:
        with transaction.atomic():
            found = read(mapping_of(inbox), message.body)
            for data in found:
                alerts.take(actor=actor, inbox=inbox, data=data)
            message.state, message.alert_count = MessageState.TAKEN, len(found)
            message.save(update_fields=["state", "alert_count"])
    except RecordsError as error:
        _refuse(message, str(error))
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        logger.exception("Message %s to inbox %s", message.pk, inbox)
        message.attempts += 1
        message.save(update_fields=["attempts"])
        if message.attempts >= MOST_ATTEMPTS:
            _refuse(message, f"{type(error).__name__}: {error}")


def _refuse(message: InboxMessage, error: str) -> None:
    message.state, message.error = MessageState.REFUSED, error
    message.save(update_fields=["state", "error"])


def _free(now: Any, owner: str = "") -> Q:
    free = Q(lease_expires_at=None) | Q(lease_expires_at__lt=now)
    return free | Q(lease_owner=owner) if owner else free


def _claim(pk: int, owner: str) -> bool:
    now = timezone.now()
    claimed = Inbox.objects.filter(_free(now, owner), pk=pk).update(
        lease_owner=owner, lease_expires_at=now + _LEASE
    )
    return bool(claimed)


def _release(pk: int, owner: str) -> None:
    Inbox.objects.filter(pk=pk, lease_owner=owner).update(lease_owner="", lease_expires_at=None)
