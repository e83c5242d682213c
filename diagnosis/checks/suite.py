"""Suites of checks as data: the rows that administrators edit, checked when they are read."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

import yaml

SHIPPED = ("full", "full-amd", "light", "cpu")


class SuiteError(ValueError):
    """A suite that cannot be used; the message says which item and why."""


class Phase(StrEnum):
    """When an item runs: side by side on all hosts, or on several hosts together."""

    CONFIGURATION = "configuration"
    SINGLE_HOST = "single-host"
    SEVERAL_HOSTS = "several-hosts"


class Scope(StrEnum):
    """What one run of an item spans."""

    HOST = "host"
    PAIR = "pair"
    TOR = "tor"
    ALL = "all"


class Direction(StrEnum):
    """Which side of a criterion is good."""

    HIGHER = "higher"
    LOWER = "lower"
    EQUAL = "equal"


class Rule(StrEnum):
    """`bound`: an absolute limit; `fleet`: distance from healthy hosts; `same`: as most peers."""

    BOUND = "bound"
    FLEET = "fleet"
    SAME = "same"


class Blame(StrEnum):
    """The class of the cause when an item fails."""

    CONFIG = "config"
    CRITICAL = "critical"
    DEGRADATION = "degradation"


@dataclass(frozen=True, slots=True)
class Criterion:
    """When a value passes. `limit` is the bound; `floor` is the share of the healthy median that a
    fleet rule never calls a difference, `deviations` its width in robust standard deviations.
    """

    rule: Rule
    limit: float | str | None = None
    floor: float = 0.05
    deviations: float = 4.0


@dataclass(frozen=True, slots=True)
class Item:
    """One check. `value` names what the parser reads; every device's value is judged.

    A failure counts once a second measurement confirms it (`confirm`). Items on pairs run in
    `rounds` with other partners each time, and a host is judged by its best round.
    """

    code: str
    title: str
    command: str
    parser: str
    value: str
    unit: str
    direction: Direction
    criterion: Criterion
    time_limit_s: float
    phase: Phase
    scope: Scope = Scope.HOST
    blame: Blame = Blame.DEGRADATION
    confirm: bool = False
    rounds: int = 1


@dataclass(frozen=True)
class Suite:
    """Items in the order in which they run."""

    code: str
    title: str
    budget_s: float
    items: tuple[Item, ...]

    def item(self, code: str) -> Item:
        return next(item for item in self.items if item.code == code)

    def of_phase(self, phase: Phase) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.phase == phase)


@cache
def shipped(code: str) -> Suite:
    """One of `SHIPPED`."""
    return suite_of(shipped_document(code))


def shipped_document(code: str) -> dict[str, Any]:
    """One of `SHIPPED`, as it is written."""
    file = resources.files("diagnosis.checks") / "suites" / f"{code}.yaml"
    found: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    return found


def suite_from_yaml(text: str) -> Suite:
    """Raises `SuiteError`."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise SuiteError(f"not YAML: {error}") from error
    return suite_of(document)


def suite_of(document: object) -> Suite:
    """A suite from `{"code", "title", "budget_s", "items": [...]}`. Raises `SuiteError`."""
    if not isinstance(document, Mapping):
        raise SuiteError("a suite is a mapping with code, title, budget_s and items")
    rows = document.get("items")
    if not isinstance(rows, list) or not rows:
        raise SuiteError("'items' must be a list with at least one item")
    items = tuple(item_of(number, row) for number, row in enumerate(rows))
    codes = [item.code for item in items]
    twice = sorted({code for code in codes if codes.count(code) > 1})
    if twice:
        raise SuiteError(f"item {twice[0]} occurs twice")
    code, title = document.get("code"), document.get("title")
    if not isinstance(code, str) or not isinstance(title, str) or not code or not title:
        raise SuiteError("'code' and 'title' must be texts")
    return Suite(code, title, _number(document.get("budget_s", 600), "budget_s"), items)


def item_of(number: int, row: object) -> Item:
    """One row of a suite. Raises `SuiteError` naming the item and what is wrong."""
    where = f"item {number}"
    if not isinstance(row, Mapping):
        raise SuiteError(f"{where} is not a mapping")
    where = f"item {row.get('code', number)}"
    known = {field.name for field in fields(Item)}
    unknown = sorted(set(row) - known)
    if unknown:
        raise SuiteError(f"{where}: there is no field '{unknown[0]}'")
    values = dict(row)
    try:
        values["criterion"] = _criterion(values.get("criterion"))
        kinds = (("direction", Direction), ("phase", Phase), ("scope", Scope), ("blame", Blame))
        for name, kind in kinds:
            if name in values:
                values[name] = kind(values[name])
        values["time_limit_s"] = _number(values.get("time_limit_s"), "time_limit_s")
        item = Item(**values)
    except (TypeError, ValueError) as error:
        raise SuiteError(f"{where}: {error}") from error
    for name in ("code", "title", "command", "parser", "value", "unit"):
        if not isinstance(getattr(item, name), str):
            raise SuiteError(f"{where}: '{name}' must be a text")
    if not isinstance(item.rounds, int) or item.rounds < 1 or not isinstance(item.confirm, bool):
        raise SuiteError(f"{where}: 'rounds' is a number from 1 on, 'confirm' is true or false")
    if not item.command.strip() or not item.code.strip():
        raise SuiteError(f"{where}: 'code' and 'command' must not be empty")
    return item


def _criterion(row: object) -> Criterion:
    if not isinstance(row, Mapping):
        raise SuiteError("'criterion' must be a mapping with 'rule'")
    values: dict[str, Any] = dict(row)
    values["rule"] = Rule(str(values.get("rule")))
    criterion = Criterion(**values)
    if not isinstance(criterion.limit, int | float | str | None):
        raise SuiteError("'limit' must be a number or a text")
    if criterion.rule == Rule.BOUND and criterion.limit is None:
        raise SuiteError("a bound needs a 'limit'")
    if criterion.rule == Rule.FLEET and not (criterion.floor > 0 and criterion.deviations > 0):
        raise SuiteError("a fleet rule needs a positive floor and positive deviations")
    return criterion


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise SuiteError(f"'{name}' must be a positive number")
    return float(value)
