"""Logs of JSON objects, one a line: container runtimes, log shippers, `journalctl -o json`."""

from collections.abc import Mapping, Sequence
from typing import cast

import orjson

from diagnosis.readers.logs_feeds import Feeds
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


def message_in(line: bytes) -> bytes:
    """The message of a line's object; any other line comes back as it is."""
    found = _object(line)
    message = _first(found, _MESSAGE) if found is not None else None
    if message is None:
        return line
    if isinstance(message, list):
        text = bytes(byte for byte in message if isinstance(byte, int) and 0 <= byte < 256)
    else:
        text = str(message).encode("utf-8", "replace")
    return text.rstrip(b"\r\n").replace(b"\r", b"\n")


def unwrapped(lines: bytes) -> tuple[bytes, Sequence[int]]:
    """The messages of JSON lines, and in which of these lines each line of them stood."""
    return _all_messages(lines) or _each_message(lines)


def head_in(line: bytes) -> Head:
    """The head that a line's object tells; an empty one for any other line."""
    found = _object(line)
    if found is None or _first(found, _MESSAGE) is None:
        return Head()
    return _head(found)


def _all_messages(lines: bytes) -> tuple[bytes, Sequence[int]] | None:
    """The messages of lines that have one of one line each, and in which line each stood."""
    messages = _messages(lines)
    if messages is None:
        return None
    text = "\n".join([*messages, ""]).encode("utf-8", "replace")
    count = Feeds(lines).all + (not lines.endswith(b"\n"))
    if not len(messages) == count == Feeds(text).all or b"\r" in text:
        return None
    return text, range(count)


def _each_message(text: bytes) -> tuple[bytes, Sequence[int]]:
    """The same for any lines: messages may have several lines, or none of them any object."""
    lines: list[bytes] = []
    origins: list[int] = []
    for index, raw in enumerate(text.removesuffix(b"\n").split(b"\n")):
        parts = message_in(raw).split(b"\n")
        lines += parts
        origins += [index] * len(parts)
    return b"\n".join([*lines, b""]), origins


def _messages(lines: bytes) -> list[str] | None:
    """The messages of many lines at once; None where they must be looked at one by one.

    That is so where a line is no object or holds no text for a message. A number between the lines
    keeps an object from going on in the next one.
    """
    try:
        values = orjson.loads(b"[%b]" % lines.removesuffix(b"\n").replace(b"\n", b",0,"))
        found = values[::2]
        if len(values) != 2 * len(found) - 1 or any(values[1::2]):
            return None
        name = next(name for name in _MESSAGE if found[0].get(name) is not None)
        before = _MESSAGE[: _MESSAGE.index(name)]
        if before and any(other in one for one in found for other in before):
            return None
        return [one[name].rstrip("\r\n") for one in found]
    except (orjson.JSONDecodeError, LookupError, TypeError, AttributeError, StopIteration):
        return None


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
    for name in names:
        value = found.get(name)
        if value is not None:
            return value
    return None


def _head(found: Mapping[str, object]) -> Head:
    kubernetes = found.get("kubernetes")
    inner = cast("Mapping[str, object]", kubernetes) if isinstance(kubernetes, dict) else {}
    host = _text(_first(found, _HOST), "name") or inner.get("host") or inner.get("node_name")
    host = host or _text(found.get("agent"), "hostname") or _labelled(found)
    host = host or inner.get("pod_name")
    rank = _first(found, _RANK)
    program = _first(found, _PROGRAM) or inner.get("container_name")
    return Head(
        prefixes=1,
        stamp=_stamp(found),
        outer_host=host if isinstance(host, str) and host else None,
        rank=int(rank) if str(rank).isdigit() else None,  # type: ignore[call-overload]
        program=program if isinstance(program, str) else None,
    )


def _labelled(found: Mapping[str, object]) -> object:
    """The host by the labels that Loki and Google's logging put beside a line."""
    resource = found.get("resource")
    inner = resource.get("labels") if isinstance(resource, dict) else None
    for labels in (found.get("labels"), found.get("stream"), inner):
        if isinstance(labels, dict):
            told = cast("Mapping[str, object]", labels)
            host = _first(told, (*_HOST, "compute.googleapis.com/resource_name", "pod_name", "pod"))
            if host is not None:
                return host
    return None


def _text(value: object, name: str) -> object:
    """A value, or what it holds by this name: shippers of ECS write `{"host": {"name": …}}`."""
    return value.get(name) if isinstance(value, dict) else value


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
