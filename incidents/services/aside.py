"""Taking evidence out of use: set aside and taken back, or its bytes deleted for good."""

from functools import partial

from django.db import transaction
from django.utils import timezone

from incidents import storage
from incidents.exceptions import InvalidInput, TransitionRefused
from incidents.models import Blob, Evidence
from incidents.models.evidence import ASIDE_FIELDS
from incidents.roles import Actor, Capability
from incidents.services.events import record


@transaction.atomic
def set_aside(*, actor: Actor, evidence: Evidence, reason: str) -> Evidence:
    """Keeps a file from every later diagnosis, and can be undone. Raises `InvalidInput` without
    a reason, `TransitionRefused` where it is set aside already.
    """
    actor.require(Capability.RESPOND)
    evidence = _locked(evidence)
    if evidence.set_aside_at is not None:
        raise TransitionRefused(f"{evidence.set_aside_by} has set {evidence} aside already.")
    _put_aside(actor, evidence, reason)
    _record(actor, evidence, "evidence.set-aside", f"{evidence} set aside: {reason.strip()}")
    return evidence


@transaction.atomic
def take_back(*, actor: Actor, evidence: Evidence) -> Evidence:
    """Undoes setting aside. Raises `TransitionRefused` where there is nothing to undo."""
    actor.require(Capability.RESPOND)
    evidence = _locked(evidence)
    if evidence.blob.purged_at is not None:
        raise TransitionRefused(f"The bytes of {evidence} were deleted; nothing brings them back.")
    if evidence.set_aside_at is None:
        raise TransitionRefused(f"{evidence} is in use.")
    evidence.set_aside_at, evidence.set_aside_by, evidence.set_aside_reason = None, "", ""
    evidence.save(update_fields=ASIDE_FIELDS)
    _record(actor, evidence, "evidence.taken-back", f"{evidence} taken back into use")
    return evidence


@transaction.atomic
def purge(*, actor: Actor, evidence: Evidence, reason: str) -> None:
    """Deletes a file's bytes, wherever they were handed in, and takes them never again.

    The records and the timeline stay, and so do lines that findings quote. One event for each
    incident that held the file.
    """
    actor.require(Capability.ADMINISTER)
    blob = Blob.objects.select_for_update().get(pk=evidence.blob_id)
    if blob.purged_at is not None:
        raise TransitionRefused(f"The bytes of {evidence} were deleted already.")
    blob.purged_at = timezone.now()
    blob.save(update_fields=["purged_at"])
    for one in Evidence.objects.filter(blob=blob).select_related("incident__job"):
        _put_aside(actor, one, reason)
        _record(actor, one, "evidence.purged", f"Bytes of {one} deleted: {reason.strip()}")
    transaction.on_commit(partial(storage.remove, blob.sha256))


def _locked(evidence: Evidence) -> Evidence:
    rows = Evidence.objects.select_related("blob", "incident__job")
    return rows.select_for_update(of=("self",)).get(pk=evidence.pk)


def _put_aside(actor: Actor, evidence: Evidence, reason: str) -> None:
    if not reason.strip():
        raise InvalidInput("Say why, so that others can follow.", field="reason")
    evidence.set_aside_at, evidence.set_aside_by = timezone.now(), actor.label
    evidence.set_aside_reason = reason.strip()
    evidence.save(update_fields=ASIDE_FIELDS)


def _record(actor: Actor, evidence: Evidence, verb: str, text: str) -> None:
    data = {"evidence": evidence.pk, "name": evidence.name}
    record(actor=actor, verb=verb, text=text, incident=evidence.incident, data=data)
