"""Pages of a list by the key of the last row seen: as quick on the last page as on the first."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from django.core.exceptions import ValidationError
from django.db.models import Field, Model, Q, QuerySet

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Some rows, and the cursors around them; `next` is empty on the last page."""

    rows: Sequence[Row]
    next: str
    is_first: bool


def page_of(rows: QuerySet[Row], *, after: str, size: int) -> Page[Row]:
    """The `size` rows after a cursor, in the order that the queryset has.

    The queryset's order must end in a unique field. A cursor that cannot be read means the start.
    """
    order = [str(field) for field in rows.query.order_by]
    key = _decode(after, [_field_of(rows, name.lstrip("-")) for name in order])
    wanted = rows.filter(_beyond(order, key)) if key else rows
    found = list(wanted[: size + 1])
    more = len(found) > size
    found = found[:size]
    return Page(found, _encode(found[-1], order) if more else "", is_first=key is None)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page stands: its rows are `first` to `last`; `previous` is empty for the start."""

    first: int
    last: int
    previous: str


def place_of(rows: QuerySet[Row], page: Page[Row], *, size: int) -> Place:
    """The page's place in the whole list, by what stands before its first row."""
    if page.is_first or not page.rows:
        return Place(1, len(page.rows), "")
    order = [str(field) for field in rows.query.order_by]
    back = [field[1:] if field.startswith("-") else f"-{field}" for field in order]
    key = [getattr(page.rows[0], field.lstrip("-")) for field in order]
    before = rows.filter(_beyond(back, key)).order_by(*back)
    ahead = before.count()
    previous = _encode(before[size], order) if ahead > size else ""
    return Place(ahead + 1, ahead + len(page.rows), previous)


def _beyond(order: Sequence[str], key: Sequence[Any]) -> Q:
    """Rows after `key`: later in the first field, or equal there and later in the next, …"""
    condition, equal = Q(), Q()
    for field, value in zip(order, key, strict=True):
        name, comparison = field.lstrip("-"), "lt" if field.startswith("-") else "gt"
        condition |= equal & Q(**{f"{name}__{comparison}": value})
        equal &= Q(**{name: value})
    return condition


def _encode(row: Model, order: Sequence[str]) -> str:
    values = [getattr(row, field.lstrip("-")) for field in order]
    plain = [v.isoformat() if isinstance(v, datetime) else v for v in values]
    return base64.urlsafe_b64encode(json.dumps(plain).encode()).decode().rstrip("=")


def _field_of(rows: QuerySet[Any], name: str) -> Field[Any, Any]:
    """The field that a queryset is ordered by, computed ones included."""
    computed = rows.query.annotations.get(name)
    field = rows.model._meta.get_field(name) if computed is None else computed.output_field
    return cast("Field[Any, Any]", field)


def _decode(cursor: str, fields: Sequence[Field[Any, Any]]) -> list[Any] | None:
    """The values that a cursor holds, as the fields have them; None where it holds no such."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        values = json.loads(base64.urlsafe_b64decode(padded))
        pairs = zip(values, fields, strict=True)
        return [_as_field(value, field) for value, field in pairs]
    except (binascii.Error, ValueError, TypeError, OverflowError, ValidationError):
        return None


def _as_field(value: Any, field: Field[Any, Any]) -> Any:
    if not isinstance(value, int | float | str) or "\0" in (text := str(value)):
        raise TypeError("no value of a cursor")
    text.encode()  # half a character is none
    return field.to_python(value)
