"""The metric catalogue: what a metric means, which way is bad, how small a change matters."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from importlib.resources import files

import yaml


class Direction(StrEnum):
    """The direction that is bad."""

    LOW = "low"
    HIGH = "high"
    EITHER = "either"


class MetricKind(StrEnum):
    """How a metric behaves, which decides how it is judged (see catalogue.yaml)."""

    ABNORMAL = "abnormal"
    PERFORMANCE = "performance"
    ACTIVITY = "activity"
    STATE = "state"


class CatalogueError(ValueError):
    """A catalogue that cannot be used; the message names the entry."""


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """One metric of the catalogue; the fields are explained in catalogue.yaml."""

    id: str
    bad: Direction = Direction.EITHER
    kind: MetricKind = MetricKind.PERFORMANCE
    floor: float = 0.1
    scale: float | None = None
    implicates: str | None = None
    exporters: tuple[str, ...] = ()
    unit: str = ""
    entity: str = "host"
    known: bool = True


@dataclass(frozen=True)
class Catalogue:
    """Metric definitions by id; exporters' names lead to the same definitions."""

    metrics: tuple[MetricDefinition, ...]

    @cached_property
    def _by_name(self) -> Mapping[str, MetricDefinition]:
        names = {name: item for item in self.metrics for name in item.exporters}
        return {**names, **{item.id: item for item in self.metrics}}

    def definition(self, name: str) -> MetricDefinition:
        """The metric of this id or exporter's name; an unknown one is judged both ways."""
        known = self._by_name.get(name) or self._by_name.get(name.removesuffix("_total"))
        return known or MetricDefinition(id=name, known=False)

    @classmethod
    def default(cls) -> "Catalogue":
        """The catalogue that every install ships."""
        return _shipped()

    @classmethod
    def from_yaml(cls, content: bytes) -> "Catalogue":
        """The catalogue in YAML, `{"version": 1, "metrics": [...]}`; raises `CatalogueError`."""
        try:
            document = yaml.safe_load(content)
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
            raise CatalogueError(f"catalogue is not YAML: {error}") from error
        rows = document.get("metrics") if isinstance(document, Mapping) else None
        if not isinstance(rows, list):
            raise CatalogueError("catalogue must be a mapping with a list of 'metrics'")
        return cls(_unique(_definition(number, row) for number, row in enumerate(rows)))


@cache
def _shipped() -> Catalogue:
    content = files("diagnosis.degradation").joinpath("catalogue.yaml").read_bytes()
    return Catalogue.from_yaml(content)


def _unique(metrics: Iterable[MetricDefinition]) -> tuple[MetricDefinition, ...]:
    found: dict[str, MetricDefinition] = {}
    for item in metrics:
        if item.id in found:
            raise CatalogueError(f"metric '{item.id}' stands twice")
        found[item.id] = item
    return tuple(found.values())


def _definition(number: int, row: object) -> MetricDefinition:
    if not isinstance(row, Mapping) or not isinstance(row.get("id"), str) or not row["id"]:
        raise CatalogueError(f"metric {number} has no 'id'")
    name = row["id"]
    unknown = set(row) - set(MetricDefinition.__slots__) | set(row) & {"known"}
    if unknown:
        raise CatalogueError(f"metric '{name}': unknown field {', '.join(map(str, unknown))}")
    values = dict(row)
    try:
        if "bad" in row:
            values["bad"] = Direction(row["bad"])
        if "kind" in row:
            values["kind"] = MetricKind(row["kind"])
        values["floor"] = _positive(row.get("floor", 0.1), "floor")
        if row.get("scale") is not None:
            values["scale"] = _positive(row["scale"], "scale")
    except (ValueError, TypeError) as error:
        raise CatalogueError(f"metric '{name}': {error}") from error
    exporters = row.get("exporters", [])
    if not isinstance(exporters, list) or not all(isinstance(item, str) for item in exporters):
        raise CatalogueError(f"metric '{name}': 'exporters' must be a list of names")
    values["exporters"] = tuple(exporters)
    return MetricDefinition(**values)


def _positive(value: object, what: str) -> float:
    number = float(value)  # type: ignore[arg-type]
    if not 0 < number < float("inf"):
        raise ValueError(f"'{what}' must be a positive number")
    return number
