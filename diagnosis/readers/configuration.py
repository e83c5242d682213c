"""Reader of configuration snapshots: the contract's JSON, and the raw outputs of common tools."""

import re
from collections.abc import Callable

import orjson

from diagnosis.core.configuration import Snapshot
from diagnosis.core.evidence import Evidence
from diagnosis.readers.config_ibstat import read_ibstat
from diagnosis.readers.config_lines import read_env, read_os_release, read_uname
from diagnosis.readers.config_nvidia_smi import read_nvidia_smi
from diagnosis.readers.config_packages import read_dpkg, read_pip, read_rpm
from diagnosis.readers.devices import devices_in
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.logs_times import stamp_at
from diagnosis.readers.origin import origin_of

#: The largest snapshot that is read, in bytes; `nvidia-smi -q` of 16 GPUs takes 200 kB.
MAX_BYTES = 16 * 1024**2

#: Name → (value, line); the host's name under "host" where the output tells it.
Values = dict[str, tuple[str, int]]

_JSON = re.compile(rb'\s*\{(?=.{0,4096}"values"\s*:\s*\{)(?=.{0,65536}"host"\s*:)', re.DOTALL)
_ENV_LINE = re.compile(rb"(?:export )?[A-Za-z_][A-Za-z0-9_]*(?:%%|\(\))?=.*")
_NEVR = re.compile(
    rb"(?!.{400})[\w.+-]+-[\w.+~^]+-[\w.+~^]+\.(?:x86_64|noarch|aarch64|i686|ppc64le)"
)
_PIN = re.compile(rb"[A-Za-z0-9][\w.-]*(?:\[[\w,]+\])?(?:==| @ )\S+")

#: How each raw output begins, and its reader. The outputs of the last three have no head of
#: their own: every line must look like theirs.
_BEGINS: tuple[tuple[re.Pattern[bytes], Callable[[str], Values]], ...] = (
    (re.compile(rb"\s*=+NVSMI LOG=+"), read_nvidia_smi),
    (re.compile(rb"\s*CA '[\w.-]+'\s*\n\s+CA type:"), read_ibstat),
    (re.compile(rb"Linux \S+ \d[\w.+-]+ #\d[^\n]*\s*$"), read_uname),
    (re.compile(rb"Desired=Unknown/Install|\+\+\+-=+|ii  \S+\s+\S+"), read_dpkg),
)
_EVERY_LINE: tuple[tuple[re.Pattern[bytes], Callable[[str], Values]], ...] = (
    (_NEVR, read_rpm),
    (_PIN, read_pip),
    (_ENV_LINE, read_env),
)
_OS_RELEASE = re.compile(rb'^(?:PRETTY_NAME|VERSION_ID|ID_LIKE)="?', re.MULTILINE)


def is_configuration(head: bytes, *, whole: bool) -> bool:
    """Is a file with this head a snapshot? `whole`: the head is all of it."""
    return _JSON.match(head) is not None or _reader_of(head, whole=whole) is not None


def tells_faults(evidence: Evidence) -> bool:
    """Is it the output of a tool that tells faults too, so that it is a log as well?"""
    with evidence.open() as stream:
        head = stream.read(4096)
    return any(begin.match(head) for begin, _ in _BEGINS[:2])


def read_snapshot(evidence: Evidence) -> Snapshot:
    """The snapshot of one host. Raises `UnreadableEvidence` with the reason."""
    with evidence.open() as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise UnreadableEvidence("a configuration snapshot of more than 16 MiB")
    if _JSON.match(content):
        return _from_json(evidence, content)
    reader = _reader_of(content, whole=True)
    if reader is None:
        raise UnreadableEvidence("a configuration snapshot of no known form")
    text = content.decode("utf-8", "replace")
    values = reader(text)
    told = values.pop("host", None)
    host = origin_of(evidence).host or (told[0] if told else None)
    if host is None:
        raise UnreadableEvidence("which host this is of is not told: name the file <host>.<tool>")
    return Snapshot(
        host,
        {name: value for name, (value, _) in values.items()},
        evidence.name,
        lines={name: line for name, (_, line) in values.items()},
        devices=devices_in(text, host),
    )


def _reader_of(head: bytes, *, whole: bool) -> Callable[[str], Values] | None:
    for begin, reader in _BEGINS:
        if begin.match(head):
            return reader
    if not whole:
        return None
    lines = [line for line in head.split(b"\n") if line.strip() and not line.startswith(b"#")]
    if len(_OS_RELEASE.findall(head)) >= 2 and all(_ENV_LINE.fullmatch(line) for line in lines):
        return read_os_release
    if len(lines) < 3:
        return None
    return next(
        (reader for each, reader in _EVERY_LINE if all(each.fullmatch(line) for line in lines)),
        None,
    )


def _from_json(evidence: Evidence, content: bytes) -> Snapshot:
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise UnreadableEvidence(f"configuration snapshot is not JSON: {error}") from error
    host, values = document.get("host"), document.get("values")
    if not isinstance(host, str) or not host.strip():
        raise UnreadableEvidence("configuration snapshot: 'host' must be a name")
    if not isinstance(values, dict):
        raise UnreadableEvidence("configuration snapshot: 'values' must be an object")
    told = {name: _as_text(value) for name, value in values.items() if value is not None}
    return Snapshot(host, told, evidence.name, _time(document.get("time")))


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _time(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    found = stamp_at(value.strip()) if isinstance(value, str) else None
    return found[0].time if found else None
