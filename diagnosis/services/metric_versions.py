"""Versions of the metric definitions: what they were after each change, who made it, and why."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.verdict import catalogue_version
from diagnosis.models import MetricDefinition, MetricVersion
from incidents.exceptions import InvalidInput
from incidents.roles import Actor, Capability

_COLUMNS = (
    "metric", "unit", "entity", "bad", "kind", "floor", "scale", "implicates", "exporters", "query",
    "enabled",
)  # fmt: skip


@transaction.atomic
def record_version(*, actor: Actor, why: str, catalogue: Catalogue) -> MetricVersion | None:
    """Notes the definitions, which are the `catalogue` now; None where none of them changed.

    Raises `InvalidInput` without a reason.
    """
    actor.require(Capability.EDIT_TAXONOMY)
    reason = why.strip()
    if not reason:
        raise InvalidInput("Say why the metric definitions change.", field="why")
    rows: list[dict[str, Any]] = list(MetricDefinition.objects.order_by("metric").values(*_COLUMNS))
    before = MetricVersion.objects.first()
    changed = _changed(before.rows if before else (), rows)
    if before is not None and not changed:
        return None
    return MetricVersion.objects.create(
        version=catalogue_version(catalogue),
        who=actor.label,
        why=reason,
        changed=changed,
        rows=rows,
    )


def _changed(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[str]:
    old = {row["metric"]: row for row in before}
    new = {row["metric"]: row for row in after}
    return sorted(name for name in old | new if old.get(name) != new.get(name))
