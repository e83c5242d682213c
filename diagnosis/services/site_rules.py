"""Overrides, ignore rules and maintenance windows, written from rows."""

from collections.abc import Iterable
from datetime import UTC, datetime

from diagnosis.models import IgnoreRule, MaintenanceWindow, Signature, SignatureOverride
from diagnosis.services.rulebook import Row
from diagnosis.taxonomy.fields import TaxonomyError
from diagnosis.taxonomy.overrides import Override
from diagnosis.taxonomy.suppression import IgnoreRule as Ignored
from diagnosis.taxonomy.suppression import MaintenanceWindow as Window
from incidents.models import Cluster


def put_overrides(rows: Iterable[Row]) -> None:
    """Adds overrides. Raises `TaxonomyError` for a row that cannot be used."""
    for number, row in enumerate(rows, start=1):
        where = f"override {number}"
        one = Override.from_row(row, where)
        SignatureOverride.objects.create(
            cluster=cluster_named(one.cluster, where),
            signature=signature_called(one.signature, where),
            disabled=one.disabled,
            fault_class=one.cls or "",
            action=one.action or "",
            priority=one.priority,
            reason=one.reason,
        )


def put_ignore_rules(rows: Iterable[Row]) -> None:
    """Adds ignore rules. Raises `TaxonomyError` for a row that cannot be used."""
    for number, row in enumerate(rows, start=1):
        where = f"ignore rule {number}"
        one = Ignored.from_row(row, where)
        IgnoreRule.objects.create(
            signature=signature_called(one.signature, where) if one.signature else None,
            pattern=one.pattern,
            cluster=cluster_named(one.cluster, where) if one.cluster else None,
            host=one.host,
            reason=one.reason,
            expires_at=datetime.fromtimestamp(one.expires, UTC),
        )


def put_windows(rows: Iterable[Row]) -> None:
    """Adds maintenance windows. Raises `TaxonomyError` for a row that cannot be used."""
    for number, row in enumerate(rows, start=1):
        where = f"maintenance window {number}"
        one = Window.from_row(row, where)
        MaintenanceWindow.objects.create(
            cluster=cluster_named(one.cluster, where),
            hosts=list(one.hosts),
            job=one.job,
            starts_at=datetime.fromtimestamp(one.start, UTC),
            ends_at=datetime.fromtimestamp(one.end, UTC),
            reason=one.reason,
        )


def cluster_named(name: str, where: str) -> Cluster:
    found = Cluster.objects.filter(name=name).first()
    if found is None:
        raise TaxonomyError(f"{where}: there is no cluster '{name}' here")
    return found


def signature_called(code: str, where: str) -> Signature:
    found = Signature.objects.filter(code=code).first()
    if found is None:
        raise TaxonomyError(f"{where}: there is no signature '{code}'")
    return found
