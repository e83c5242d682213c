"""Rulebooks as YAML: written for people and version control, read with every mistake located."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import isfinite
from typing import Any

import yaml

from diagnosis.taxonomy.fields import TaxonomyError
from diagnosis.taxonomy.rows import normal_row
from diagnosis.taxonomy.rulebook import Rulebook

#: A file larger than this (bytes) is refused; the shipped one has a third of a million.
MAX_BYTES = 8 * 1024**2

#: Section of a file → its name in error texts.
SECTIONS = {
    "signatures": "row",
    "overrides": "override",
    "ignore_rules": "ignore rule",
    "maintenance": "maintenance window",
}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SAFE_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_ORDER = (
    *("cluster", "hosts", "host", "job", "from", "until", "signature", "disabled"),
    *("code", "fault_type", "title", "component", "class", "severity", "stream", "pattern"),
    *("examples", "implicates", "action", "priority", "follow_on", "enabled", "expires"),
    *("escalates", "escalation_idea", "explanation", "runbook", "source", "evidence", "reason"),
)
_HEAD = "# Fault taxonomy of Aegis. Read it back with `manage.py taxonomy import FILE --dry-run`.\n"


class _Dumper(_SAFE_DUMPER):  # type: ignore[misc]
    """Writes every text out, where two rows share it as well."""

    def ignore_aliases(self, data: object) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One row of a file, with where it stands in words: `row 12 (line 340)`."""

    where: str
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Document:
    """What a file holds: its rows by section. A section that it doesn't have is not in there."""

    sections: Mapping[str, Sequence[DocumentRow]]
    problems: Sequence[str]


def to_yaml(book: Rulebook) -> str:
    """The rulebook as YAML; empty sections are left out, but never the signatures."""
    signatures = [_ordered(row) for row in book.signatures]
    parts: dict[str, object] = {"version": 1, "signatures": signatures}
    for section in list(SECTIONS)[1:]:
        rows = getattr(book, section)
        if rows:
            parts[section] = [_ordered(row) for row in rows]
    text: str = yaml.dump(parts, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)
    return _HEAD + text


def _ordered(row: Mapping[str, object]) -> dict[str, object]:
    """The fields in the order of the shipped file; databases keep none."""
    return {name: row[name] for name in sorted(row, key=_place)}


def _place(name: str) -> tuple[int, str]:
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def read_document(content: bytes) -> Document:
    """A file's rows. Raises `TaxonomyError` where it is no such file at all.

    Rows that are no mappings, or say one field twice, end in `problems` with their line.
    """
    if len(content) > MAX_BYTES:
        raise TaxonomyError(f"the file is larger than {MAX_BYTES // 1024**2} MiB")
    root = _composed(content)
    if not isinstance(root, yaml.MappingNode):
        raise TaxonomyError("the file must hold 'signatures:' with a list")
    problems: list[str] = []
    sections: dict[str, list[DocumentRow]] = {}
    for key, node in root.value:
        if key.value == "version":
            continue
        if key.value not in SECTIONS:
            problems.append(f"line {key.start_mark.line + 1}: unknown section {key.value!r}")
        elif not isinstance(node, yaml.SequenceNode):
            problems.append(f"line {key.start_mark.line + 1}: '{key.value}' must be a list")
        else:
            sections[key.value] = _rows(key.value, node, problems)
    if not sections and not problems:
        raise TaxonomyError("the file must hold 'signatures:' with a list")
    return Document(sections, problems)


def _composed(content: bytes) -> Any:
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(content, _LOADER)):
            raise TaxonomyError("aliases ('*name') are not taken: write the text out")
        return yaml.compose(content, _LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark is not None else ""
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise TaxonomyError(f"{line}not YAML: {reason}") from error
    except RecursionError as error:
        raise TaxonomyError("the file is nested too deeply") from error


def _rows(section: str, node: Any, problems: list[str]) -> list[DocumentRow]:
    found: list[DocumentRow] = []
    for number, row in enumerate(node.value, start=1):
        where = f"{SECTIONS[section]} {number} (line {row.start_mark.line + 1})"
        if not isinstance(row, yaml.MappingNode):
            problems.append(f"{where}: must be a mapping of fields")
            continue
        names = [key.value for key, _ in row.value]
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        if twice:
            problems.append(f"{where}: says '{twice[0]}' twice")
            continue
        try:
            fields = _plain(_constructed(row))
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            problems.append(f"{where}: {str(error).splitlines()[0]}")
            continue
        found.append(DocumentRow(where, normal_row(fields) if section == "signatures" else fields))
    return found


def _constructed(node: Any) -> Any:
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _plain(value: Any) -> Any:
    """Plain JSON data: times become text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
        return f"{zoned.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    if isinstance(value, date):
        return f"{value:%Y-%m-%d}T00:00:00Z"
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("a number must be finite")
    if isinstance(value, bytes | set):
        raise ValueError("binary data and sets are not taken")
    return value
