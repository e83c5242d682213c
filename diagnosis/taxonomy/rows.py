"""From a row (YAML or database) to a signature, with errors that name the row and the reason."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from diagnosis.core.words import Action, SignatureClass
from diagnosis.taxonomy.patterns import PatternError, check_pattern
from diagnosis.taxonomy.signature import Escalation, Implicates, Severity, Signature, Stream

_Word = TypeVar("_Word", bound=StrEnum)


class TaxonomyError(ValueError):
    """A taxonomy that cannot be loaded; the message names the row and what is wrong with it."""


def signature_from_row(row: object, place: str) -> Signature:
    """The signature in one row. `place` says where the row stands, for the error's text.

    Raises `TaxonomyError` for a missing field, an unknown word or a pattern that RE2 refuses.
    """
    if not isinstance(row, Mapping):
        raise TaxonomyError(f"{place}: a signature must be a mapping of fields")
    code = _text(row, "code", place)
    where = f"{place} ({code})"
    pattern = _text(row, "pattern", where)
    try:
        check_pattern(pattern)
    except PatternError as error:
        raise TaxonomyError(f"{where}: {error}") from error
    return Signature(
        code=code,
        title=_text(row, "title", where),
        component=_text(row, "component", where),
        cls=_word(SignatureClass, row, "class", where),
        severity=_word(Severity, row, "severity", where),
        stream=_word(Stream, row, "stream", where),
        pattern=pattern,
        implicates=_word(Implicates, row, "implicates", where),
        action=_word(Action, row, "action", where),
        priority=_whole(row, "priority", where, default=50),
        follow_on=bool(row.get("follow_on") or False),
        examples=_texts(row, "examples", where),
        explanation=str(row.get("explanation") or ""),
        source=str(row.get("source") or ""),
        enabled=row.get("enabled") is not False,
        escalates=escalation_in(row, "escalates", where),
        escalation_idea=escalation_in(row, "escalation_idea", where),
    )


def _text(row: Mapping[str, object], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise TaxonomyError(f"{where}: '{name}' must be a text")
    return value


def _texts(row: Mapping[str, object], name: str, where: str) -> tuple[str, ...]:
    values = row.get(name) or ()
    if isinstance(values, str) or not isinstance(values, list | tuple):
        raise TaxonomyError(f"{where}: '{name}' must be a list of texts")
    if not all(isinstance(value, str) for value in values):
        raise TaxonomyError(f"{where}: '{name}' must be a list of texts")
    return tuple(values)


def _whole(row: Mapping[str, object], name: str, where: str, default: int) -> int:
    value = row.get(name, default)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        raise TaxonomyError(f"{where}: '{name}' must be a whole number")
    return value


def _word(words: type[_Word], row: Mapping[str, object], name: str, where: str) -> _Word:
    value = row.get(name)
    try:
        return words(str(value))
    except ValueError:
        known = ", ".join(word.value for word in words)
        raise TaxonomyError(f"{where}: unknown {name} {value!r}; known are {known}") from None


def escalation_in(row: Mapping[str, object], name: str, where: str) -> Escalation | None:
    """The escalation in a row's field `name`, if any. Raises `TaxonomyError` for another shape."""
    value = row.get(name)
    if not value:
        return None
    if not isinstance(value, Mapping):
        raise TaxonomyError(f"{where}: '{name}' must be a mapping")
    inner = f"{where}, {name}"
    hours = value.get("window_hours")
    if not isinstance(hours, int | float) or isinstance(hours, bool) or hours <= 0:
        raise TaxonomyError(f"{inner}: 'window_hours' must be a number over 0")
    return Escalation(
        to=_word(SignatureClass, value, "to", inner),
        key=_text(value, "key", inner),
        count=_whole(value, "count", inner, default=2),
        window_hours=float(hours),
        across_jobs=bool(value.get("across_jobs") or False),
        note=str(value.get("note") or ""),
    )
