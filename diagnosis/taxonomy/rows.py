"""From a row (YAML or database) to a signature, with errors that name the row and the reason."""

from collections.abc import Mapping

from diagnosis.core.words import Action, SignatureClass
from diagnosis.taxonomy.fields import TaxonomyError, text_in, texts_in, whole_in, word_in
from diagnosis.taxonomy.patterns import PatternError, check_pattern
from diagnosis.taxonomy.signature import Escalation, Implicates, Severity, Signature, Stream

__all__ = [
    "FAULT_FIELDS",
    "ROW_FIELDS",
    "TaxonomyError",
    "fault_code",
    "normal_row",
    "signature_from_row",
]

#: Every field that a row may have; `fault_type` where several signatures tell one fault type.
ROW_FIELDS = frozenset(
    [
        "code",
        "fault_type",
        "title",
        "component",
        "class",
        "severity",
        "stream",
        "pattern",
        "examples",
        "implicates",
        "action",
        "priority",
        "follow_on",
        "enabled",
        "escalates",
        "escalation_idea",
        "explanation",
        "runbook",
        "source",
        "evidence",
    ]
)


#: What belongs to the fault type and is therefore the same in all rows that tell it.
FAULT_FIELDS = ("title", "component", "class", "severity", "action", "explanation", "runbook")

#: Values that a row need not write down.
_UNSET: Mapping[str, object] = {"follow_on": False, "enabled": True}
_ALWAYS = frozenset(["pattern", "examples", "priority"])


def fault_code(row: Mapping[str, object]) -> str:
    """The code of the fault type that a row tells: its own, unless it names one."""
    return str(row.get("fault_type") or row.get("code"))


def normal_row(row: Mapping[str, object]) -> dict[str, object]:
    """The row as it compares: what only repeats a default is left out, the rest written down."""
    full = {"examples": [], "priority": 50, **row}
    if full.get("fault_type") == full.get("code"):
        del full["fault_type"]
    return {
        name: value
        for name, value in full.items()
        if name in _ALWAYS or (value not in (None, "") and value != _UNSET.get(name))
    }


def signature_from_row(row: object, place: str) -> Signature:
    """The signature in one row. `place` says where the row stands, for the error's text.

    Raises `TaxonomyError` for a missing field, an unknown word or a pattern that RE2 refuses.
    """
    if not isinstance(row, Mapping):
        raise TaxonomyError(f"{place}: a signature must be a mapping of fields")
    code = text_in(row, "code", place)
    where = f"{place} ({code})"
    pattern = text_in(row, "pattern", where)
    try:
        check_pattern(pattern)
    except PatternError as error:
        raise TaxonomyError(f"{where}: {error}") from error
    return Signature(
        code=code,
        title=text_in(row, "title", where),
        component=text_in(row, "component", where),
        cls=word_in(SignatureClass, row, "class", where),
        severity=word_in(Severity, row, "severity", where),
        stream=word_in(Stream, row, "stream", where),
        pattern=pattern,
        implicates=word_in(Implicates, row, "implicates", where),
        action=word_in(Action, row, "action", where),
        priority=_whole(row, "priority", where, default=50),
        follow_on=_yes(row, "follow_on", where, default=False),
        examples=texts_in(row, "examples", where),
        explanation=str(row.get("explanation") or ""),
        source=str(row.get("source") or ""),
        enabled=_yes(row, "enabled", where, default=True),
        escalates=escalation_in(row, "escalates", where),
        escalation_idea=escalation_in(row, "escalation_idea", where),
    )


def _whole(row: Mapping[str, object], name: str, where: str, default: int) -> int:
    value = whole_in(row, name, where)
    return default if value is None else value


def _yes(row: Mapping[str, object], name: str, where: str, *, default: bool) -> bool:
    value = row.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise TaxonomyError(f"{where}: '{name}' must be true or false")
    return value


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
        to=word_in(SignatureClass, value, "to", inner),
        key=text_in(value, "key", inner),
        count=_whole(value, "count", inner, default=2),
        window_hours=float(hours),
        across_jobs=bool(value.get("across_jobs") or False),
        note=str(value.get("note") or ""),
    )
