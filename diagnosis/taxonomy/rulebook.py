"""The rulebook: everything that people edit, as rows, and the rules of one cluster from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from diagnosis.taxonomy.changes import (
    Row,
    RowChange,
    by_cluster_and_signature,
    by_content,
    compare,
)
from diagnosis.taxonomy.fields import TaxonomyError
from diagnosis.taxonomy.overrides import Override, overridden
from diagnosis.taxonomy.rows import FAULT_FIELDS, fault_code
from diagnosis.taxonomy.ruleset import Taxonomy, rules_version
from diagnosis.taxonomy.suppression import IgnoreRule, MaintenanceWindow, SuppressionRules


@dataclass(frozen=True, slots=True)
class ClusterRules:
    """What incidents of one cluster are judged by; `version` is what their diagnoses record."""

    taxonomy: Taxonomy
    suppression: SuppressionRules

    @property
    def version(self) -> str:
        return rules_version(self.taxonomy, self.suppression)


@dataclass(frozen=True)
class Rulebook:
    """Signatures (rows of `default.yaml`), overrides, ignore rules and maintenance windows."""

    signatures: Sequence[Row] = ()
    overrides: Sequence[Row] = ()
    ignore_rules: Sequence[Row] = ()
    maintenance: Sequence[Row] = ()
    _of: dict[str, ClusterRules] = field(default_factory=dict, compare=False, repr=False)

    def rules_of(self, cluster: str) -> ClusterRules:
        """The rules of one cluster. Raises `TaxonomyError` naming a row that cannot be used."""
        if cluster not in self._of:
            self._of[cluster] = self._rules_of(cluster)
        return self._of[cluster]

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """The rules of a cluster that does nothing differently."""
        return Taxonomy.from_rows(self.signatures)

    def versions(self) -> Mapping[str, str]:
        """Cluster → its rules' version, for clusters that have rules of their own.

        The empty name stands for every cluster without rules of its own.
        """
        return {name: self.rules_of(name).version for name in ("", *self._clusters())}

    def check(self) -> None:
        """Raises `TaxonomyError` naming the first row that cannot be used."""
        self.rules_of("")
        check_shared_faults(self.signatures)
        _ = (self._overrides, self._ignored, self._windows)
        seen: dict[tuple[str, str], int] = {}
        for number, one in enumerate(self._overrides, start=1):
            first = seen.setdefault((one.cluster, one.signature), number)
            if first != number:
                raise TaxonomyError(
                    f"override {number} ({one.signature}): {one.cluster} overrides it already in "
                    f"override {first}"
                )

    def changes_to(self, other: "Rulebook") -> Mapping[str, Sequence[RowChange]]:
        """What makes the other rulebook of this one, by section; sections without are left out."""
        found = {
            "signatures": compare(self.signatures, other.signatures),
            "overrides": compare(self.overrides, other.overrides, key=by_cluster_and_signature),
            "ignore rules": compare(
                self.ignore_rules, other.ignore_rules, key=by_content, name=_ignored_name
            ),
            "maintenance windows": compare(
                self.maintenance, other.maintenance, key=by_content, name=_window_name
            ),
        }
        return {section: changes for section, changes in found.items() if changes}

    @cached_property
    def _overrides(self) -> tuple[Override, ...]:
        return tuple(
            Override.from_row(row, f"override {number}")
            for number, row in enumerate(self.overrides, start=1)
        )

    @cached_property
    def _ignored(self) -> tuple[IgnoreRule, ...]:
        return tuple(
            IgnoreRule.from_row(row, f"ignore rule {number}")
            for number, row in enumerate(self.ignore_rules, start=1)
        )

    @cached_property
    def _windows(self) -> tuple[MaintenanceWindow, ...]:
        return tuple(
            MaintenanceWindow.from_row(row, f"maintenance window {number}")
            for number, row in enumerate(self.maintenance, start=1)
        )

    def _clusters(self) -> list[str]:
        named = {one.cluster for one in self._overrides}
        named |= {one.cluster for one in self._ignored} | {one.cluster for one in self._windows}
        return sorted(named - {""})

    def _rules_of(self, cluster: str) -> ClusterRules:
        mine = [one for one in self._overrides if one.cluster == cluster]
        taxonomy = self.taxonomy
        if mine:
            taxonomy = Taxonomy(overridden(taxonomy.signatures, mine))
        return ClusterRules(
            taxonomy,
            SuppressionRules(
                ignore=tuple(one for one in self._ignored if one.cluster in {"", cluster}),
                maintenance=tuple(one for one in self._windows if one.cluster == cluster),
            ),
        )


def check_shared_faults(rows: Sequence[Row]) -> None:
    """Raises `TaxonomyError` where two rows tell one fault type and disagree about it."""
    first: dict[str, tuple[int, Row]] = {}
    for number, row in enumerate(rows, start=1):
        at, known = first.setdefault(fault_code(row), (number, row))
        for name in FAULT_FIELDS:
            if (row.get(name) or "") != (known.get(name) or ""):
                raise TaxonomyError(
                    f"row {number} ({row.get('code')}): tells the fault type "
                    f"'{fault_code(row)}' as row {at} ({known.get('code')}) does, so both must "
                    f"have the same {name}"
                )


def _ignored_name(row: Row) -> str:
    what = row.get("signature") or f"lines with '{row.get('pattern')}'"
    return f"{what} on {row.get('host') or row.get('cluster')}"


def _window_name(row: Row) -> str:
    hosts = row.get("hosts")
    named = ", ".join(map(str, hosts)) if isinstance(hosts, list | tuple) and hosts else ""
    return f"{named or row.get('job') or row.get('cluster')} from {row.get('from')}"
