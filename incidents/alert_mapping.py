"""How a message of another system is read as alerts: JMESPath expressions, one a field.

Pure: nothing here knows of records. An operator may write a mapping; it can only pick from the
message, never run anything.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import jmespath
from django.utils.dateparse import parse_datetime
from jmespath.exceptions import JMESPathError
from jmespath.parser import ParsedResult

from incidents.choices import AlertAction, IncidentKind, Severity
from incidents.exceptions import InvalidInput

#: More alerts than this in one message are not a message.
MOST_ALERTS = 20_000
#: What a mapping may say. `items` picks the alerts from the message, all others look at one alert.
FIELDS = (
    "items",
    "key",
    "status",
    "title",
    "note",
    "severity",
    "kind",
    "hosts",
    "known_hosts",
    "job",
    "cluster",
    "started_at",
    "ended_at",
)
_REQUIRED = ("key", "title")
_ACTIONS: Mapping[str, AlertAction] = {
    **dict.fromkeys(("resolved", "resolve", "ok", "closed", "normal", "true"), AlertAction.RESOLVE),
    **dict.fromkeys(("acknowledge", "acknowledged", "ack"), AlertAction.ACKNOWLEDGE),
}
_SEVERITIES: Mapping[str, Severity] = {
    **dict.fromkeys(("critical", "fatal", "emergency", "page", "p1"), Severity.CRITICAL),
    **dict.fromkeys(("error", "high", "major", "p2", "alert"), Severity.HIGH),
    **dict.fromkeys(("warning", "warn", "medium", "average", "p3"), Severity.MEDIUM),
    **dict.fromkeys(("minor", "low", "p4"), Severity.LOW),
    **dict.fromkeys(("info", "information", "informational", "notice", "none"), Severity.INFO),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertData:
    """One alert as Aegis understands it. `known_hosts` count only where they are registered.

    `tells_start` says that `started_at` is when the condition began, so that a later one is another
    firing; else it is just when the message was made.
    """

    key: str
    action: AlertAction
    title: str
    severity: Severity
    kind: IncidentKind
    hosts: tuple[str, ...]
    known_hosts: tuple[str, ...]
    job: str
    cluster: str
    started_at: datetime | None
    ended_at: datetime | None
    tells_start: bool

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def read(mapping: Mapping[str, str], body: Any) -> Sequence[AlertData]:
    """The alerts of a message. Raises `InvalidInput` naming the alert that cannot be read."""
    found = _evaluated(mapping, "items", body) if mapping.get("items") else body
    items = found if isinstance(found, list) else [] if found is None else [found]
    if len(items) > MOST_ALERTS:
        raise InvalidInput(f"More than {MOST_ALERTS:,} alerts in one message.", field="items")
    return [_alert(mapping, item, number) for number, item in enumerate(items)]


def check(mapping: Mapping[str, Any]) -> None:
    """Raises `InvalidInput` for a mapping that cannot work, naming the field."""
    for name, expression in mapping.items():
        if name not in FIELDS:
            raise InvalidInput(f"There is no field {name!r}: {', '.join(FIELDS)}.", field=name)
        if not isinstance(expression, str) or len(expression) > 2000:
            raise InvalidInput("Write a JMESPath expression.", field=name)
        if expression:
            _compiled(name, expression)
    for name in _REQUIRED:
        if not mapping.get(name):
            raise InvalidInput(f"The mapping needs {name}.", field=name)


def _alert(mapping: Mapping[str, str], item: Any, number: int) -> AlertData:
    def text(name: str) -> str:
        return next(iter(_texts(_evaluated(mapping, name, item))), "")

    key, title, note = text("key"), text("title"), text("note")
    if not key:
        raise InvalidInput(f"Alert {number} has no key.", field="key")
    kind = text("kind").lower()
    return AlertData(
        key=key[:500],
        action=_ACTIONS.get(text("status").lower(), AlertAction.TRIGGER),
        title=_titled(title, note),
        severity=_SEVERITIES.get(text("severity").lower(), Severity.MEDIUM),
        kind=IncidentKind(kind) if kind in IncidentKind.values else IncidentKind.NONE,
        hosts=_names(_evaluated(mapping, "hosts", item)),
        known_hosts=_names(_evaluated(mapping, "known_hosts", item)),
        job=text("job")[:200],
        cluster=text("cluster")[:100],
        started_at=_instant(text("started_at")),
        ended_at=_instant(text("ended_at")),
        tells_start=bool(mapping.get("ended_at")),
    )


def _evaluated(mapping: Mapping[str, str], name: str, value: Any) -> Any:
    expression = mapping.get(name)
    if not expression:
        return None
    try:
        return _compiled(name, expression).search(value)
    except (JMESPathError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"{name} cannot be read here: {error}", field=name) from error


def _compiled(name: str, expression: str) -> ParsedResult:
    try:
        return _parsed(expression)
    except (JMESPathError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{name} is no JMESPath expression: {error}", field=name) from error


@lru_cache(maxsize=512)
def _parsed(expression: str) -> ParsedResult:
    return jmespath.compile(expression)


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value: itself, or those of a list; no objects, nothing empty."""
    if isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, bool):
        yield str(value).lower()
    elif isinstance(value, str | int | float) and str(value).strip():
        yield str(value).replace("\x00", "").strip()


def _names(value: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name[:255] for name in _texts(value)))


def _titled(title: str, note: str) -> str:
    first = note.splitlines()[0] if note else ""
    both = [part for part in dict.fromkeys((title, first)) if part]
    return ": ".join(both)[:300] or "Alert"


def _instant(text: str) -> datetime | None:
    """An instant in RFC 3339, or seconds since 1970; None for none, and for Go's zero time."""
    try:
        if text.replace(".", "", 1).isascii() and text.replace(".", "", 1).isdecimal():
            found: datetime | None = datetime.fromtimestamp(float(text), UTC)
        else:
            found = parse_datetime(text)
    except (ValueError, OverflowError, OSError):
        return None
    if found is None or found.year < 1971:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
