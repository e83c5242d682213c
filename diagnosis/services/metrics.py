"""The metric catalogue in the database: shipped rows, and what the watch judges and asks by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from diagnosis.degradation.catalogue import (
    Catalogue,
    Direction,
    MetricKind,
)
from diagnosis.degradation.catalogue import MetricDefinition as Definition
from diagnosis.models import MetricDefinition
from diagnosis.services.metric_versions import record_version
from diagnosis.sources.labels import EntityKind
from diagnosis.sources.queries import MetricQuery, StoredSeries, shipped_queries
from incidents.roles import Actor, Capability
from incidents.services.events import record


@dataclass(frozen=True, slots=True)
class CurrentMetrics:
    """How metrics are judged, and the questions that sources are asked about hosts."""

    catalogue: Catalogue
    queries: tuple[MetricQuery, ...]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What loading the shipped rows did."""

    added: int
    updated: int
    kept: int


def current() -> CurrentMetrics:
    """The rows in the database; the shipped ones where there are none yet."""
    rows = list(MetricDefinition.objects.all()) or _shipped()
    asked = [row for row in rows if row.enabled and row.entity != EntityKind.SWITCH_PORT]
    queries = (row.as_query() for row in asked)
    return CurrentMetrics(
        catalogue=Catalogue(tuple(_definition(row) for row in rows)),
        queries=tuple(query for query in queries if query is not None),
    )


@transaction.atomic
def load_shipped(*, actor: Actor) -> Loaded:
    """Brings the shipped rows up to date; whatever people edited or added is left alone."""
    actor.require(Capability.EDIT_TAXONOMY)
    known = MetricDefinition.objects.in_bulk(field_name="metric")
    new: list[MetricDefinition] = []
    updated = kept = 0
    for shipped in _shipped():
        row = known.get(shipped.metric)
        if row is None:
            new.append(shipped)
        elif row.edited or not row.shipped:
            kept += 1
        else:
            updated += _update(row, shipped)
    MetricDefinition.objects.bulk_create(new)
    if new or updated:
        text = f"Shipped metrics loaded: {len(new)} added, {updated} updated, {kept} of your own"
        record(actor=actor, verb="metrics.loaded", text=text)
        record_version(actor=actor, why=text, catalogue=current().catalogue)
    return Loaded(added=len(new), updated=updated, kept=kept)


_FIELDS = (
    "unit", "entity", "bad", "kind", "floor", "scale", "implicates", "exporters", "query"
)  # fmt: skip


def _update(row: MetricDefinition, shipped: MetricDefinition) -> bool:
    changed = [name for name in _FIELDS if getattr(row, name) != getattr(shipped, name)]
    for name in changed:
        setattr(row, name, getattr(shipped, name))
    if changed:
        row.save(update_fields=changed)
    return bool(changed)


def _shipped() -> list[MetricDefinition]:
    """The catalogue's rows, each with its question where there is one."""
    queries = {query.metric: query for query in shipped_queries()}
    return [
        MetricDefinition(
            metric=item.id,
            unit=item.unit,
            entity=item.entity,
            bad=item.bad,
            kind=item.kind,
            floor=item.floor,
            scale=item.scale,
            implicates=item.implicates or "",
            exporters=list(item.exporters),
            query=columns_of(queries[item.id]) if item.id in queries else {},
            shipped=True,
        )
        for item in Catalogue.default().metrics
    ]


def columns_of(query: MetricQuery) -> dict[str, Any]:
    """A question as the columns of its row: what `query_of_row` reads; only what is set."""
    columns: dict[str, Any] = {"exporter": query.exporter, "entity": query.entity.value}
    if query.series:
        columns["series"] = [_series(one) for one in query.series]
        columns["transform"] = query.transform.value
    optional: Mapping[str, Any] = {
        "promql": query.promql,
        "add_up": query.add_up or None,
        "blank_from": query.blank_from,
        "per_host": query.per_host,
    }
    return columns | {name: value for name, value in optional.items() if value is not None}


def _series(stored: StoredSeries) -> dict[str, Any]:
    name = f"{stored.name}{{{stored.matchers}}}" if stored.matchers else stored.name
    return {"name": name} if stored.scale == 1.0 else {"name": name, "scale": stored.scale}


def _definition(row: MetricDefinition) -> Definition:
    return Definition(
        id=row.metric,
        bad=Direction(row.bad),
        kind=MetricKind(row.kind),
        floor=row.floor,
        scale=row.scale,
        implicates=row.implicates or None,
        exporters=tuple(row.exporters),
        unit=row.unit,
        entity=row.entity,
    )
