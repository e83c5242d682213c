"""Single fields of a row, read with errors that name the row and the reason."""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeVar

Word = TypeVar("Word", bound=StrEnum)


class TaxonomyError(ValueError):
    """Rules that cannot be loaded; the message names the row and what is wrong with it."""


def mapping_in(row: object, where: str, known: frozenset[str]) -> Mapping[str, object]:
    """The row as a mapping with known fields only, so that a misspelt field is told."""
    if not isinstance(row, Mapping):
        raise TaxonomyError(f"{where}: must be a mapping of fields")
    unknown = sorted(str(name) for name in row if name not in known)
    if unknown:
        raise TaxonomyError(f"{where}: unknown field {unknown[0]!r}; known are {_listed(known)}")
    return row


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))


def text_in(row: Mapping[str, object], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise TaxonomyError(f"{where}: '{name}' must be a text")
    return value


def optional_text_in(row: Mapping[str, object], name: str, where: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TaxonomyError(f"{where}: '{name}' must be a text")
    return value.strip()


def texts_in(row: Mapping[str, object], name: str, where: str) -> tuple[str, ...]:
    values = row.get(name) or ()
    if isinstance(values, str) or not isinstance(values, list | tuple):
        raise TaxonomyError(f"{where}: '{name}' must be a list of texts")
    if not all(isinstance(value, str) for value in values):
        raise TaxonomyError(f"{where}: '{name}' must be a list of texts")
    return tuple(values)


def whole_in(row: Mapping[str, object], name: str, where: str) -> int | None:
    value = row.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise TaxonomyError(f"{where}: '{name}' must be a whole number")
    return value


def word_in(words: type[Word], row: Mapping[str, object], name: str, where: str) -> Word:
    value = row.get(name)
    try:
        return words(str(value))
    except ValueError:
        known = ", ".join(word.value for word in words)
        raise TaxonomyError(f"{where}: unknown {name} {value!r}; known are {known}") from None


def optional_word_in(
    words: type[Word], row: Mapping[str, object], name: str, where: str
) -> Word | None:
    return None if row.get(name) in {None, ""} else word_in(words, row, name, where)


def instant_in(row: Mapping[str, object], name: str, where: str) -> float:
    """ISO 8601 (as text, or as YAML reads it) as epoch seconds; without a zone it is UTC."""
    value = row.get(name)
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        found = None
    if not isinstance(found, datetime):
        raise TaxonomyError(f"{where}: '{name}' must be a time such as 2026-12-01T08:00:00Z")
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def instant_text(time: float) -> str:
    """Epoch seconds as people read them."""
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M} UTC"
