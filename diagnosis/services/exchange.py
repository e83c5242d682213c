"""Rules as a file: export, a preview of what a file would change, and taking it in."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from diagnosis.models import (
    IgnoreRule,
    MaintenanceWindow,
    Signature,
    SignatureOverride,
    TaxonomyVersion,
)
from diagnosis.services import site_rules, taxonomy
from diagnosis.services.rule_changes import check_row, reason_given, write_rows
from diagnosis.services.rulebook import Row, stored_rulebook
from diagnosis.taxonomy.changes import ChangeKind, RowChange
from diagnosis.taxonomy.documents import Document, DocumentRow, read_document, to_yaml
from diagnosis.taxonomy.fields import TaxonomyError
from diagnosis.taxonomy.overrides import Override
from diagnosis.taxonomy.rows import ROW_FIELDS
from diagnosis.taxonomy.rulebook import Rulebook, check_shared_faults
from diagnosis.taxonomy.suppression import IgnoreRule as Ignored
from diagnosis.taxonomy.suppression import MaintenanceWindow as Window
from incidents.models import Cluster
from incidents.roles import Actor, Capability

#: Problems that are told at once.
_MAX_PROBLEMS = 50


class ImportRefused(TaxonomyError):  # noqa: N818 - it names what happened
    """A file that cannot be taken in; `problems` name each row and the reason."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file would change, by section. `kept`: rows that only the database has and keeps."""

    changes: Mapping[str, Sequence[RowChange]]
    kept: int
    target: Rulebook

    @property
    def counts(self) -> Mapping[str, int]:
        kinds = [change.kind for section in self.changes.values() for change in section]
        return {kind.value: kinds.count(kind) for kind in ChangeKind}


def export() -> str:
    """All rules that people edit, as YAML."""
    return to_yaml(stored_rulebook())


def preview(content: bytes, *, remove_missing: bool = False) -> Preview:
    """What taking a file in would change; nothing is written.

    Signatures that the file leaves out stay, unless `remove_missing`. A section of overrides,
    ignore rules or maintenance windows in the file stands for all of them; where the file has no
    such section they stay. Raises `ImportRefused` with every problem found.
    """
    document = _read(content)
    now = stored_rulebook()
    given = _rows(document, "signatures")
    codes = {row.get("code") for row in given}
    missing = [row for row in now.signatures if row["code"] not in codes]
    left: Iterable[Row] = missing if not remove_missing else _switched_off(missing)
    target = Rulebook(
        signatures=sorted([*given, *left], key=lambda row: str(row.get("code"))),
        overrides=_section(document, "overrides", now.overrides),
        ignore_rules=_section(document, "ignore_rules", now.ignore_rules),
        maintenance=_section(document, "maintenance", now.maintenance),
    )
    problems = _problems(document, target)
    if problems:
        raise ImportRefused(problems)
    return Preview(now.changes_to(target), 0 if remove_missing else len(missing), target)


@transaction.atomic
def take_in(
    *, actor: Actor, content: bytes, why: str, remove_missing: bool = False
) -> tuple[Preview, TaxonomyVersion | None]:
    """Makes the rules what the file says, as one version; None where nothing differs.

    All of the file is taken, or nothing: `ImportRefused` says what is wrong with it.
    """
    actor.require(Capability.EDIT_TAXONOMY)
    reason = reason_given(why)
    seen = preview(content, remove_missing=remove_missing)
    write_rows({change.name: change.after for change in seen.changes.get("signatures", ())})
    _replace(seen.changes, "overrides", SignatureOverride, site_rules.put_overrides, seen.target)
    _replace(seen.changes, "ignore rules", IgnoreRule, site_rules.put_ignore_rules, seen.target)
    _replace(
        seen.changes, "maintenance windows", MaintenanceWindow, site_rules.put_windows, seen.target
    )
    return seen, taxonomy.record_version(actor=actor, why=reason)


def _replace(
    changes: Mapping[str, Sequence[RowChange]],
    section: str,
    model: type[SignatureOverride] | type[IgnoreRule] | type[MaintenanceWindow],
    put: Callable[[Iterable[Row]], None],
    target: Rulebook,
) -> None:
    if section not in changes:
        return
    rows = {
        SignatureOverride: target.overrides,
        IgnoreRule: target.ignore_rules,
        MaintenanceWindow: target.maintenance,
    }[model]
    model._default_manager.all().delete()
    put(rows)


def _read(content: bytes) -> Document:
    try:
        return read_document(content)
    except TaxonomyError as error:
        raise ImportRefused([str(error)]) from error


def _rows(document: Document, section: str) -> list[Row]:
    return [row.fields for row in document.sections.get(section, ())]


def _section(document: Document, section: str, now: Sequence[Row]) -> Sequence[Row]:
    return _rows(document, section) if section in document.sections else now


def _switched_off(missing: Iterable[Row]) -> list[Row]:
    """Of the rows that go, the shipped ones stay and are switched off."""
    shipped = set(Signature.objects.filter(shipped=True).values_list("code", flat=True))
    return [{**row, "enabled": False} for row in missing if row["code"] in shipped]


def _problems(document: Document, target: Rulebook) -> list[str]:
    problems = [*document.problems, *_broken_signatures(document)]
    codes = {str(row.get("code")) for row in target.signatures}
    clusters = set(Cluster.objects.values_list("name", flat=True))
    problems += _broken(document, "overrides", Override.from_row, codes, clusters)
    problems += _broken(document, "ignore_rules", Ignored.from_row, codes, clusters)
    problems += _broken(document, "maintenance", Window.from_row, codes, clusters)
    if not problems:
        problems = _clashes(target)
    more = len(problems) - _MAX_PROBLEMS
    return problems[:_MAX_PROBLEMS] + ([f"… and {more} further problems"] if more > 0 else [])


def _broken_signatures(document: Document) -> list[str]:
    problems: list[str] = []
    first: dict[object, str] = {}
    for row in document.sections.get("signatures", ()):
        code = row.fields.get("code")
        where = f"{row.where} ({code})" if code else row.where
        unknown = sorted(set(row.fields) - ROW_FIELDS)
        if code in first:
            problems.append(f"{where}: the code is taken by {first[code]}")
        elif unknown:
            problems.append(f"{where}: unknown field '{unknown[0]}'")
        else:
            problems += _reason(row, check_row)
        first.setdefault(code, row.where)
    return problems


def _broken(
    document: Document,
    section: str,
    read: Callable[[object, str], object],
    codes: set[str],
    clusters: set[str],
) -> list[str]:
    problems: list[str] = []
    for row in document.sections.get(section, ()):
        signature, cluster = row.fields.get("signature"), row.fields.get("cluster")
        found = _reason(row, read)
        if not found and signature and signature not in codes:
            found = [f"{row.where}: there is no signature '{signature}'"]
        if not found and cluster and cluster not in clusters:
            found = [f"{row.where}: there is no cluster '{cluster}' here"]
        problems += found
    return problems


def _reason(row: DocumentRow, read: Callable[[Row, str], object]) -> list[str]:
    try:
        read(row.fields, row.where)
    except TaxonomyError as error:
        return [str(error)]
    return []


def _clashes(target: Rulebook) -> list[str]:
    try:
        check_shared_faults(target.signatures)
        target.check()
    except TaxonomyError as error:
        return [str(error)]
    return []
