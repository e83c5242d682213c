"""Which kind of evidence some bytes are, told by their content and never by their name."""

import re

from diagnosis.core.evidence import Evidence
from diagnosis.core.words import EvidenceKind

#: How much of the head is looked at, in bytes.
HEAD_BYTES = 64 * 1024

_PICKLE_PROTO = b"\x80"
_FLIGHT_RECORDER_JSON = re.compile(
    rb'^\s*\{.{0,4096}?"(?:version|entries|pg_config|pg_status|(?:comm_lib|nccl)_version)"\s*:',
    re.DOTALL,
)
_PLACEMENT_JSON = re.compile(rb'^\s*\[\s*(?:\]|\{[^{}]*"(?:rank|host)"\s*:)', re.DOTALL)
_TOPOLOGY_JSON = re.compile(rb'^\s*\{\s*"(?:hosts|links)"\s*:\s*\[', re.DOTALL)
_ARCHIVES = {b"PK\x03\x04": "zip", b"7z\xbc\xaf": "7z", b"\xfd7zXZ": "xz", b"BZh": "bzip2"}
_TAR_MAGIC, _TAR_MAGIC_AT = b"ustar", 257
_TEXT_CONTROLS = frozenset(b"\t\n\r\x0b\x0c\x1b\x08\x07")


def kind_of(evidence: Evidence) -> EvidenceKind:
    """The evidence's kind: the uploader's word where given, else by the first 64 KiB."""
    if evidence.size == 0:
        return EvidenceKind.EMPTY
    if evidence.kind is not None:
        return evidence.kind
    with evidence.open() as stream:
        return kind_of_head(stream.read(HEAD_BYTES))


def kind_of_head(head: bytes) -> EvidenceKind:
    """The kind that a file with this head is of."""
    if not head:
        return EvidenceKind.EMPTY
    if head.startswith(_PICKLE_PROTO):
        return EvidenceKind.FLIGHT_RECORDER
    if _PLACEMENT_JSON.match(head):
        return EvidenceKind.PLACEMENT
    if _TOPOLOGY_JSON.match(head):
        return EvidenceKind.TOPOLOGY
    if _FLIGHT_RECORDER_JSON.match(head):
        return EvidenceKind.FLIGHT_RECORDER
    return EvidenceKind.LOG if _looks_like_text(head) else EvidenceKind.UNKNOWN


def why_unknown(head: bytes) -> str:
    """What to tell someone whose file is of no kind that is read, and what would help."""
    name = next((name for magic, name in _ARCHIVES.items() if head.startswith(magic)), None)
    if head[_TAR_MAGIC_AT:].startswith(_TAR_MAGIC):
        name = "tar"
    if name is not None:
        return f"an archive ({name}): unpack it and hand in the files, or the folder"
    if any(half and half.count(0) > 0.8 * len(half) for half in (head[:512:2], head[1:512:2])):
        return "text in UTF-16 without its mark, or binary data: save it as UTF-8 if it is a log"
    return "binary data of a kind that Aegis does not read"


def _looks_like_text(head: bytes) -> bool:
    """Text in any 8-bit encoding, or UTF-16 with a byte-order mark: few control bytes."""
    if head[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return True
    sample = head[:8192]
    controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in sample)
    return controls <= len(sample) // 50
