"""Logs of JSON objects, one a line: container runtimes, log shippers, `journalctl -o json`."""

from collections.abc import Mapping
from typing import cast

import orjson

from diagnosis.readers.logs_heads import Head
from diagnosis.readers.logs_times import Clock, Stamp, stamp_at

_MESSAGE = ("log", "message", "MESSAGE", "msg", "textPayload", "line", "text")
_TIME = ("time", "@timestamp", "timestamp", "ts", "_SOURCE_REALTIME_TIMESTAMP")
_HOST = ("_HOSTNAME", "host", "hostname", "node", "node_name", "nodeName")
_PROGRAM = ("SYSLOG_IDENTIFIER", "_COMM", "container_name")
_RANK = ("rank", "RANK", "global_rank")


def is_json_log(data: bytes) -> bool:
    """Is the first line with content a JSON object with a message in it?"""
    for line in data.split(b"\n", 20):
        if line.strip():
            found = _object(line)
            return found is not None and _first(found, _MESSAGE) is not None
    return False


def unwrap(line: bytes) -> tuple[Head, bytes]:
    """The head that the object tells, and its message; any other line comes back as it is."""
    found = _object(line)
    message = _first(found, _MESSAGE) if found is not None else None
    if found is None or message is None:
        return Head(), line
    if isinstance(message, list):
        text = bytes(byte for byte in message if isinstance(byte, int) and 0 <= byte < 256)
    else:
        text = str(message).encode("utf-8", "replace")
    return _head(found), text.rstrip(b"\r\n").replace(b"\r", b"\n")


def _object(line: bytes) -> Mapping[str, object] | None:
    stripped = line.strip()
    if not stripped.startswith(b"{"):
        return None
    try:
        found = orjson.loads(stripped)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _first(found: Mapping[str, object], names: tuple[str, ...]) -> object:
    return next((found[name] for name in names if found.get(name) is not None), None)


def _head(found: Mapping[str, object]) -> Head:
    kubernetes = found.get("kubernetes")
    inner = cast("Mapping[str, object]", kubernetes) if isinstance(kubernetes, dict) else {}
    host = _first(found, _HOST) or inner.get("host") or inner.get("node_name")
    rank = _first(found, _RANK)
    program = _first(found, _PROGRAM) or inner.get("container_name")
    return Head(
        prefixes=1,
        stamp=_stamp(found),
        outer_host=host if isinstance(host, str) and host else None,
        rank=int(rank) if str(rank).isdigit() else None,  # type: ignore[call-overload]
        program=program if isinstance(program, str) else None,
    )


def _stamp(found: Mapping[str, object]) -> Stamp | None:
    micros = found.get("__REALTIME_TIMESTAMP")
    if micros is not None and str(micros).isdigit():
        return Stamp(int(str(micros)) / 1e6, Clock.ZONED, 1e-6)
    value = _first(found, _TIME)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Stamp(_seconds(float(value)), Clock.ZONED, 1.0)
    if isinstance(value, str):
        read = stamp_at(value.strip())
        return read[0] if read else None
    return None


def _seconds(value: float) -> float:
    """Epoch seconds from a number that may be milli-, micro- or nanoseconds."""
    for divisor in (1.0, 1e3, 1e6, 1e9):
        if value / divisor < 1e11:
            return value / divisor
    return value
