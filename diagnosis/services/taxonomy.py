"""The knowledge in the database: as rows, as the engine's taxonomy, and every version of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from diagnosis.models import FaultType, Signature, TaxonomyVersion
from diagnosis.taxonomy.ruleset import Taxonomy
from incidents.roles import Actor, Capability
from incidents.services.events import record

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class CurrentRules:
    """The rules to judge by, and which fault type each signature's code tells."""

    taxonomy: Taxonomy
    fault_codes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What loading shipped rows did, in numbers of signatures."""

    added: int
    updated: int
    kept: int
    switched_off: int


def current() -> CurrentRules:
    """The rules in the database; the shipped ones where there are none yet."""
    signatures = list(Signature.objects.select_related("fault_type"))
    if not signatures:
        return CurrentRules(Taxonomy.default(), {})
    codes = {signature.code: signature.fault_type.code for signature in signatures}
    return CurrentRules(Taxonomy.from_rows(map(row_of, signatures)), codes)


def rows() -> list[dict[str, object]]:
    """Every signature in the form of `default.yaml`, by code."""
    return [row_of(one) for one in Signature.objects.select_related("fault_type").order_by("code")]


def row_of(signature: Signature) -> dict[str, object]:
    """A signature and its fault type as one row of `default.yaml`; only what is set."""
    fault = signature.fault_type
    row: dict[str, object] = {
        "code": signature.code,
        "title": fault.title,
        "component": fault.component,
        "class": fault.fault_class,
        "severity": fault.severity,
        "stream": signature.stream,
        "pattern": signature.pattern,
        "examples": list(signature.examples),
        "implicates": signature.implicates,
        "action": fault.action,
        "priority": signature.priority,
    }
    optional: dict[str, object] = {
        "fault_type": fault.code if fault.code != signature.code else None,
        "follow_on": signature.follow_on or None,
        "enabled": None if signature.enabled else False,
        "escalates": signature.escalates,
        "escalation_idea": signature.escalation_idea,
        "explanation": fault.explanation or None,
        "runbook": fault.runbook or None,
        "source": signature.source or None,
        "evidence": signature.provenance or None,
    }
    return row | {name: value for name, value in optional.items() if value is not None}


@transaction.atomic
def record_version(*, actor: Actor, why: str = "") -> TaxonomyVersion | None:
    """Keeps the rules as they are now, where they differ from the newest kept ones."""
    actor.require(Capability.EDIT_TAXONOMY)
    newest = TaxonomyVersion.objects.first()
    now = rows()
    if newest is not None and newest.rows == now:
        return None
    version = TaxonomyVersion.objects.create(
        version=Taxonomy.from_rows(now).version, who=actor.label, why=why.strip()[:500], rows=now
    )
    record(
        actor=actor,
        verb="taxonomy.changed",
        text=f"Taxonomy is now {version.version}" + (f": {version.why}" if version.why else ""),
        data={"version": version.version, "taxonomy_version": version.pk},
    )
    return version


@transaction.atomic
def load_shipped(*, actor: Actor, shipped: Sequence[Row]) -> Loaded:
    """Brings the shipped rows up to date; whatever people edited or added is left alone.

    A signature that is no longer shipped is switched off. The new version is recorded.
    """
    actor.require(Capability.EDIT_TAXONOMY)
    faults = _load_faults(shipped)
    known = Signature.objects.select_related("fault_type").in_bulk(field_name="code")
    new: list[Signature] = []
    updated = kept = 0
    for row in shipped:
        code = str(row["code"])
        fields = {**_signature_fields(row), "fault_type": faults[_fault_code(row)]}
        signature = known.get(code)
        if signature is None:
            new.append(Signature(code=code, shipped=True, **fields))
        elif signature.edited or not signature.shipped:
            kept += 1
        else:
            updated += _update(signature, fields)
    Signature.objects.bulk_create(new)
    gone = Signature.objects.filter(shipped=True, edited=False, enabled=True)
    off = gone.exclude(code__in=[str(row["code"]) for row in shipped]).update(enabled=False)
    record_version(actor=actor, why="Shipped taxonomy loaded")
    return Loaded(added=len(new), updated=updated, kept=kept, switched_off=off)


def _load_faults(shipped: Sequence[Row]) -> Mapping[str, FaultType]:
    """Code → fault type, for every row; the first row of a code describes its fault type."""
    described: dict[str, Row] = {}
    for row in shipped:
        described.setdefault(_fault_code(row), row)
    known = FaultType.objects.in_bulk(field_name="code")
    new = [
        FaultType(code=code, shipped=True, **_fault_fields(row))
        for code, row in described.items()
        if code not in known
    ]
    for code, row in described.items():
        fault = known.get(code)
        if fault is not None and fault.shipped and not fault.edited:
            _update(fault, _fault_fields(row))
    return known | {fault.code: fault for fault in FaultType.objects.bulk_create(new)}


def _fault_code(row: Row) -> str:
    return str(row.get("fault_type") or row["code"])


def _update(row: FaultType | Signature, fields: Mapping[str, Any]) -> bool:
    changed = [name for name, value in fields.items() if getattr(row, name) != value]
    for name in changed:
        setattr(row, name, fields[name])
    if changed:
        row.save(update_fields=changed)
    return bool(changed)


def _fault_fields(row: Row) -> dict[str, Any]:
    return {
        "title": row["title"],
        "component": row["component"],
        "fault_class": row["class"],
        "severity": row["severity"],
        "action": row["action"],
        "explanation": row.get("explanation", ""),
        "runbook": row.get("runbook", ""),
    }


def _signature_fields(row: Row) -> dict[str, Any]:
    return {
        "pattern": row["pattern"],
        "stream": row["stream"],
        "implicates": row["implicates"],
        "priority": row.get("priority", 50),
        "follow_on": row.get("follow_on", False),
        "enabled": row.get("enabled", True),
        "examples": row.get("examples", []),
        "source": row.get("source", ""),
        "provenance": row.get("evidence", ""),
        "escalates": row.get("escalates"),
        "escalation_idea": row.get("escalation_idea"),
    }
