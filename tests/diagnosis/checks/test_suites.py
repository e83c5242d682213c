"""Suites as data."""

import pytest

from diagnosis.checks.parsers import PARSERS
from diagnosis.checks.suite import SHIPPED, SuiteError, shipped, suite_from_yaml

ROW = """
code: one
title: One
items:
  - {code: a, title: A, command: true, parser: readings, value: x, unit: "", direction: higher,
     criterion: {rule: bound, limit: 1}, time_limit_s: 5, phase: configuration}
""".replace("command: true", "command: 'true'")


@pytest.mark.parametrize("code", SHIPPED)
def test_shipped_suites_are_sound_and_use_known_parsers(code):
    suite = shipped(code)
    assert {item.parser for item in suite.items} <= set(PARSERS)


def test_a_suite_is_read_from_yaml():
    assert suite_from_yaml(ROW).item("a").criterion.limit == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("rule: bound, limit: 1", "rule: bound"), "limit"),
        (("rule: bound, limit: 1", "rule: fleet, floor: 0"), "floor"),
        (("direction: higher", "direction: up"), "up"),
        (("phase: configuration", "phase: soon"), "soon"),
        (("time_limit_s: 5", "time_limit_s: -5"), "time_limit_s"),
        (("value: x", "vale: x"), "vale"),
        (("code: a", "code: ''"), "empty"),
        (("items:", "rows:"), "items"),
        (("code: one", "code: [one]"), "code"),
        (("code: one", "code: {one"), "YAML"),
    ],
)
def test_an_unusable_suite_says_what_is_wrong(change, said):
    with pytest.raises(SuiteError, match=said):
        suite_from_yaml(ROW.replace(*change))


def test_an_item_occurs_once():
    item = ROW.split("items:\n")[1]
    with pytest.raises(SuiteError, match="twice"):
        suite_from_yaml(ROW + item)
