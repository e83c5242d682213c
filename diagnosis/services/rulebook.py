"""The rulebook in the database: records as rows, and rows as the fields of records."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q

from diagnosis.models import IgnoreRule, MaintenanceWindow, Signature, SignatureOverride
from diagnosis.models import TaxonomyVersion as Version
from diagnosis.taxonomy.rulebook import Rulebook
from diagnosis.taxonomy.suppression import SuppressionRules
from incidents.models import Cluster

Row = Mapping[str, object]


def stored_rulebook() -> Rulebook:
    """Everything that people edit, as it is in the database at this moment."""
    signatures = Signature.objects.select_related("fault_type").order_by("code")
    overrides = SignatureOverride.objects.select_related("cluster", "signature")
    ignored = IgnoreRule.objects.select_related("cluster", "signature")
    windows = MaintenanceWindow.objects.select_related("cluster")
    return Rulebook(
        signatures=[row_of(one) for one in signatures],
        overrides=[override_row(one) for one in overrides],
        ignore_rules=[ignore_row(one) for one in ignored],
        maintenance=[window_row(one) for one in windows],
    )


def silenced_in(cluster: Cluster) -> SuppressionRules:
    """What is silenced in one cluster, without a look at signatures."""
    ignored = IgnoreRule.objects.filter(Q(cluster=None) | Q(cluster=cluster))
    windows = MaintenanceWindow.objects.filter(cluster=cluster)
    book = Rulebook(
        ignore_rules=[ignore_row(one) for one in ignored.select_related("cluster", "signature")],
        maintenance=[window_row(one) for one in windows.select_related("cluster")],
    )
    return book.rules_of(cluster.name).suppression


def rulebook_of(version: Version) -> Rulebook:
    """The rulebook as one version kept it."""
    return Rulebook(
        signatures=version.rows,
        overrides=version.overrides,
        ignore_rules=version.ignore_rules,
        maintenance=version.maintenance,
    )


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
    if not signature.enabled:
        row["enabled"] = False
    return row | _set(
        fault_type=fault.code if fault.code != signature.code else None,
        follow_on=signature.follow_on,
        escalates=signature.escalates,
        escalation_idea=signature.escalation_idea,
        explanation=fault.explanation,
        runbook=fault.runbook,
        source=signature.source,
        evidence=signature.provenance,
    )


def override_row(override: SignatureOverride) -> dict[str, object]:
    row: dict[str, object] = {"cluster": override.cluster.name}
    row |= _set(signature=override.signature.code, disabled=override.disabled)
    row |= _set(**{"class": override.fault_class}, action=override.action)
    if override.priority is not None:
        row["priority"] = override.priority
    return row | {"reason": override.reason}


def ignore_row(rule: IgnoreRule) -> dict[str, object]:
    return _set(
        signature=rule.signature.code if rule.signature else None,
        pattern=rule.pattern,
        cluster=rule.cluster.name if rule.cluster else None,
        host=rule.host,
        reason=rule.reason,
        expires=instant_row(rule.expires_at),
    )


def window_row(window: MaintenanceWindow) -> dict[str, object]:
    row: dict[str, object] = {"cluster": window.cluster.name}
    row |= _set(hosts=list(window.hosts), job=window.job)
    row |= {"from": instant_row(window.starts_at), "until": instant_row(window.ends_at)}
    return row | {"reason": window.reason}


def instant_row(time: datetime) -> str:
    """A time as rows have it: to the second, in UTC."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _set(**fields: object) -> dict[str, object]:
    """The fields that hold something."""
    return {name: value for name, value in fields.items() if value}


def fault_fields(row: Row) -> dict[str, Any]:
    """What a row says of its fault type, as fields of `FaultType`."""
    return {
        "title": row["title"],
        "component": row["component"],
        "fault_class": row["class"],
        "severity": row["severity"],
        "action": row["action"],
        "explanation": row.get("explanation", ""),
        "runbook": row.get("runbook", ""),
    }


def signature_fields(row: Row) -> dict[str, Any]:
    """What a row says of its signature, as fields of `Signature`, without the fault type."""
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
