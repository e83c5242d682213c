"""Which kind of evidence some bytes are, told by their content.

Names count only for our own files: what is called `placement.json` and is none is refused as such.
"""

import re
from pathlib import PurePosixPath

from diagnosis.core.evidence import Evidence
from diagnosis.core.words import EvidenceKind
from diagnosis.readers.configuration import is_configuration
from diagnosis.readers.metrics_block import MAGIC
from diagnosis.readers.proxy_trace import looks_like_proxy_trace

#: How much of the head is looked at, in bytes.
HEAD_BYTES = 64 * 1024

_PICKLE_PROTO = b"\x80"
_FLIGHT_RECORDER_JSON = re.compile(
    rb'^\s*\{.{0,4096}?"(?:version|entries|pg_config|pg_status|(?:comm_lib|nccl)_version)"\s*:',
    re.DOTALL,
)
_PLACEMENT_JSON = re.compile(rb'^\s*\[\s*(?:\]|\{[^{}]*"(?:rank|host)"\s*:)', re.DOTALL)
_TOPOLOGY_JSON = re.compile(rb'^\s*\{\s*"(?:hosts|links)"\s*:\s*\[', re.DOTALL)
_PINGS = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[\w ]+,)*\s*src\s*,\s*dst\s*,[^\n]*\blost\b"
    rb'|\s*\{(?=[^{}\n]*"src"\s*:)(?=[^{}\n]*"dst"\s*:)(?=[^{}\n]*"lost"\s*:)'
)
#: Metric windows: a packed block, NPZ with the contract's arrays, or a long table with its header.
_METRIC_TABLE = re.compile(
    rb"(?:\xef\xbb\xbf)?(?=[^\n]*\btime(?:stamp)?\b)(?=[^\n]*\bhost(?:name)?\b)"
    rb"(?>[^\n{}]*?\bmetric\b)(?>[^\n{}]*?\bvalue\b)[^\n{}]*+\n",
    re.IGNORECASE,
)
#: Operation traces: a table of names alone whose header has the columns of `readers.operations`.
_OPERATION_TABLE = re.compile(
    rb"(?:\xef\xbb\xbf)?(?=[^\n]*\boptype\b)(?=[^\n]*\bmb_id\b)[\w\",;\t ]+\r?\n"
)
_NPZ_MEMBERS = re.compile(rb"(?:values|metrics|hosts|time|devices)\.npy")
_ZIP, _EMPTY_ZIP = b"PK\x03\x04", b"PK\x05\x06"
_OTHER_ARCHIVES = {b"7z\xbc\xaf": "7z", b"Rar!": "rar"}
_TAR_MAGIC, _TAR_MAGIC_AT = b"ustar", 257
#: The first record of each source of counters; the readers of `counter_sources` say whose.
_COUNTER_LINES = re.compile(
    rb'\s*\{(?=[^\n]{0,4096}"comm"\s*:)(?=[^\n]{0,4096}"rank"\s*:)(?=[^\n]{0,4096}"(?:cl|wr|wc)"\s*:)'
)
_INSPECTOR = re.compile(rb'\s*\{(?=[^\n]{0,4096}"header"\s*:)[^\n]{0,8192}?"(?:coll|p2p)_perf"\s*:')
_PROFILER = re.compile(
    rb'\s*+(?:\[\s*+)?\{(?=[^\n]{0,4096}"ph"\s*:)[^\n]{0,4096}?"cat"\s*:\s*'
    rb'"(?:GROUP|COLL|P2P|PROXY|NET|GPU|KERNEL_LAUNCH|CE_)[A-Z_]*"'
)
_RAS_JSON = re.compile(rb'\s*\{.{0,4096}?"communicators(?:_count)?"\s*:', re.DOTALL)
_COUNTERS = (_COUNTER_LINES, _INSPECTOR, _PROFILER, _RAS_JSON)
_BY_HEAD = (
    (EvidenceKind.PLACEMENT, _PLACEMENT_JSON),
    (EvidenceKind.TOPOLOGY, _TOPOLOGY_JSON),
    (EvidenceKind.PING_MATRIX, _PINGS),
    (EvidenceKind.FLIGHT_RECORDER, _FLIGHT_RECORDER_JSON),
)
_OUR_FILES = {"placement.json": EvidenceKind.PLACEMENT, "topology.json": EvidenceKind.TOPOLOGY}
_TEXT_CONTROLS = frozenset(b"\t\n\r\x0b\x0c\x1b\x08\x07")


def kind_of(evidence: Evidence) -> EvidenceKind:
    """The evidence's kind: the uploader's word where given, else by the first 64 KiB."""
    if evidence.size == 0:
        return EvidenceKind.EMPTY
    if evidence.kind is not None:
        return evidence.kind
    with evidence.open() as stream:
        found = kind_of_head(stream.read(HEAD_BYTES))
    if found is EvidenceKind.LOG:
        return _OUR_FILES.get(PurePosixPath(evidence.name).name, found)
    return found


def kind_of_head(head: bytes) -> EvidenceKind:
    """The kind that a file with this head is of."""
    if not head:
        return EvidenceKind.EMPTY
    checks = (
        (EvidenceKind.FLIGHT_RECORDER, head.startswith(_PICKLE_PROTO)),
        (EvidenceKind.METRICS, _is_metric_window(head)),
    )
    if found := next((kind for kind, holds in checks if holds), None):
        return found
    if archive_of_head(head):
        return EvidenceKind.ARCHIVE
    if counters_of(head):
        return EvidenceKind.COUNTERS
    if is_configuration(head, whole=len(head) < HEAD_BYTES):
        return EvidenceKind.CONFIGURATION
    found = next((kind for kind, pattern in _BY_HEAD if pattern.match(head)), None)
    return found or (EvidenceKind.LOG if _looks_like_text(head) else EvidenceKind.UNKNOWN)


def archive_of_head(head: bytes) -> str:
    """Which sort of archive a file with this head is, "zip" or "tar"; empty for none."""
    if head.startswith((_ZIP, _EMPTY_ZIP)) and not _is_metric_window(head):
        return "zip"
    return "tar" if head[_TAR_MAGIC_AT:].startswith(_TAR_MAGIC) else ""


def why_unknown(head: bytes) -> str:
    """What to tell someone whose file is of no kind that is read, and what would help."""
    others = (name for magic, name in _OTHER_ARCHIVES.items() if head.startswith(magic))
    if name := archive_of_head(head) or next(others, ""):
        return f"an archive ({name}): unpack it and hand in the files, or the folder"
    if any(half and half.count(0) > 0.8 * len(half) for half in (head[:512:2], head[1:512:2])):
        return "text in UTF-16 without its mark, or binary data: save it as UTF-8 if it is a log"
    return "binary data of a kind that Aegis does not read"


def counters_of(head: bytes) -> str:
    """Which source of counters a file with this head is of; empty for none."""
    named = zip(("lines", "inspector", "profiler", "ras"), _COUNTERS, strict=True)
    found = next((name for name, pattern in named if pattern.match(head)), "")
    if found:
        return found
    return "proxy" if any(map(looks_like_proxy_trace, head.splitlines()[:200])) else ""


def _is_metric_window(head: bytes) -> bool:
    if head.startswith((MAGIC, b"PAR1")):
        return True
    if head.startswith(_ZIP):
        return bool(_NPZ_MEMBERS.match(head, 30))
    return bool(_METRIC_TABLE.match(head) or _OPERATION_TABLE.match(head))


def _looks_like_text(head: bytes) -> bool:
    """Text in any 8-bit encoding, or UTF-16 with a byte-order mark: few control bytes."""
    if head[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return True
    sample = head[:8192]
    controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in sample)
    return controls <= len(sample) // 50
