"""The rules that diagnoses go by: from the database, by cluster, and every version of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import DatabaseError, connection, transaction

from diagnosis.models import FaultType, Signature, TaxonomyVersion, VersionInCluster
from diagnosis.services.rulebook import (
    Row,
    fault_fields,
    rulebook_of,
    signature_fields,
    stored_rulebook,
)
from diagnosis.taxonomy.rows import fault_code
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.taxonomy.suppression import SuppressionRules
from incidents.roles import Actor, Capability
from incidents.services.events import record


@dataclass(frozen=True, slots=True)
class CurrentRules:
    """The rules to judge by, and which fault type each signature's code tells."""

    taxonomy: Taxonomy
    fault_codes: Mapping[str, str]
    suppression: SuppressionRules


@dataclass(frozen=True, slots=True)
class Loaded:
    """What loading shipped rows did, in numbers of signatures."""

    added: int
    updated: int
    kept: int
    switched_off: int


def current(cluster: str = "") -> CurrentRules:
    """The rules of one cluster; the shipped signatures where there are none yet."""
    book = stored_rulebook()
    rules = book.rules_of(cluster)
    if not book.signatures:
        return CurrentRules(Taxonomy.default(), {}, rules.suppression)
    codes = {str(row["code"]): fault_code(row) for row in book.signatures}
    return CurrentRules(rules.taxonomy, codes, rules.suppression)


def of_this_instance() -> Taxonomy | None:
    """The instance's rules for the command line; None where there is no database with rules yet.

    Never makes a database: where none is, the shipped rules are the ones that are meant.
    """
    database = connection.settings_dict
    if connection.vendor == "sqlite" and not Path(str(database["NAME"])).exists():
        return None
    try:
        return current().taxonomy if Signature.objects.exists() else None
    except DatabaseError:
        return None


def rows() -> list[Row]:
    """Every signature in the form of `default.yaml`, by code."""
    return list(stored_rulebook().signatures)


@transaction.atomic
def record_version(*, actor: Actor, why: str = "") -> TaxonomyVersion | None:
    """Keeps the rules as they are now, where they differ from the newest kept ones."""
    actor.require(Capability.EDIT_TAXONOMY)
    newest = TaxonomyVersion.objects.first()
    now = stored_rulebook()
    if newest is not None and rulebook_of(newest) == now:
        return None
    versions = dict(now.versions())
    version = TaxonomyVersion.objects.create(
        version=versions.pop(""),
        who=actor.label,
        why=why.strip()[:500],
        rows=now.signatures,
        overrides=now.overrides,
        ignore_rules=now.ignore_rules,
        maintenance=now.maintenance,
    )
    VersionInCluster.objects.bulk_create(
        VersionInCluster(taxonomy_version=version, cluster=cluster, version=its_own)
        for cluster, its_own in versions.items()
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
        fields = {**signature_fields(row), "fault_type": faults[fault_code(row)]}
        signature = known.get(code)
        if signature is None:
            new.append(Signature(code=code, shipped=True, **fields))
        elif signature.edited or not signature.shipped:
            kept += 1
        else:
            updated += updated_where_different(signature, fields)
    Signature.objects.bulk_create(new)
    gone = Signature.objects.filter(shipped=True, edited=False, enabled=True)
    off = gone.exclude(code__in=[str(row["code"]) for row in shipped]).update(enabled=False)
    record_version(actor=actor, why="Shipped taxonomy loaded")
    return Loaded(added=len(new), updated=updated, kept=kept, switched_off=off)


def _load_faults(shipped: Sequence[Row]) -> Mapping[str, FaultType]:
    """Code → fault type, for every row; the first row of a code describes its fault type."""
    described: dict[str, Row] = {}
    for row in shipped:
        described.setdefault(fault_code(row), row)
    known = FaultType.objects.in_bulk(field_name="code")
    new = [
        FaultType(code=code, shipped=True, **fault_fields(row))
        for code, row in described.items()
        if code not in known
    ]
    for code, row in described.items():
        fault = known.get(code)
        if fault is not None and fault.shipped and not fault.edited:
            updated_where_different(fault, fault_fields(row))
    return known | {fault.code: fault for fault in FaultType.objects.bulk_create(new)}


def updated_where_different(row: FaultType | Signature, fields: Mapping[str, Any]) -> bool:
    """Writes the fields that differ; whether there were any."""
    changed = [name for name, value in fields.items() if getattr(row, name) != value]
    for name in changed:
        setattr(row, name, fields[name])
    if changed:
        row.save(update_fields=changed)
    return bool(changed)
