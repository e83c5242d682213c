"""Handing in evidence, and what reading it told."""

from typing import BinaryIO

from django.db import transaction

from incidents import selectors, storage
from incidents.choices import EvidenceKind
from incidents.exceptions import BlobMissing, InvalidInput
from incidents.models import Blob, Evidence, Incident
from incidents.roles import Actor, Capability
from incidents.services.events import record
from incidents.services.results import ReadingData
from incidents.services.snoozing import note_news

#: Characters in the name of a file, with its folders.
NAME_LENGTH = 500


def attach_evidence(
    *,
    actor: Actor,
    incident: Incident,
    name: str,
    stream: storage.Readable,
    host: str = "",
    rank: int | None = None,
    job_label: str = "",
    kind: EvidenceKind | None = None,
) -> tuple[Evidence, bool]:
    """The evidence with these bytes and name, and whether it is new to the incident.

    The bytes are stored before the rows are written, outside any transaction; handing the same
    file in again joins what is there. A file for what was merged goes to the incident that it is
    part of. Raises `EvidenceTooLarge`, `StorageFull` or `InvalidInput`,
    which is also for bytes that an administrator had deleted: they do not come back.
    """
    actor.require(Capability.RESPOND)
    name, incident = clean_name(name), selectors.standing_record(incident)
    stored = storage.store(stream)
    if Blob.objects.filter(sha256=stored.sha256, purged_at__isnull=False).exists():
        storage.remove(stored.sha256)
        raise InvalidInput(
            "An administrator had these bytes deleted; they are not taken again.", field="file"
        )
    with transaction.atomic():
        blob, _ = Blob.objects.get_or_create(
            sha256=stored.sha256,
            defaults={"size": stored.size, "stored_size": stored.stored_size},
        )
        evidence, created = Evidence.objects.get_or_create(
            incident=incident,
            blob=blob,
            name=name,
            defaults={
                "kind": kind or EvidenceKind.UNKNOWN,
                "declared_kind": kind or "",
                "host": host,
                "rank": rank,
                "job_label": job_label,
                "uploaded_by": actor.label,
                "source": actor.source,
            },
        )
        if created:
            record(
                actor=actor,
                verb="evidence.attached",
                text=f"{name} handed in ({stored.size:,} bytes)",
                incident=incident,
                data={"evidence": evidence.pk, "name": name, "sha256": stored.sha256},
            )
            note_news(incident, "a file was handed in")
    return evidence, created


def open_content(evidence: Evidence) -> BinaryIO:
    """The bytes as they were handed in. Raises `BlobMissing`, which says where they went."""
    if evidence.blob.purged_at is not None:
        raise BlobMissing(f"{evidence.set_aside_by} had the bytes deleted.")
    return storage.open_blob(evidence.blob.sha256)


def note_reading(evidence: Evidence, reading: ReadingData) -> None:
    """Notes whether a file could be read and what it is; part of storing a diagnosis."""
    evidence.parse_status, evidence.parse_reason = reading.status, reading.reason
    evidence.kind = reading.kind or evidence.kind
    evidence.read_host, evidence.read_rank = reading.host[:255], reading.rank
    evidence.save(update_fields=["parse_status", "parse_reason", "kind", "read_host", "read_rank"])


def clean_name(name: str) -> str:
    """A relative path without climbing, as browsers give it for folders."""
    plain = name.replace("\x00", "").replace("\\", "/")
    clean = "/".join(part for part in plain.split("/") if part not in {"", ".", ".."})
    if not clean:
        raise InvalidInput("A file needs a name.", field="name")
    if len(clean) > NAME_LENGTH:
        raise InvalidInput(f"A file's name has at most {NAME_LENGTH} characters.", field="name")
    return clean
