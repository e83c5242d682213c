"""A suite as the text that people edit: YAML, with every problem at its line."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml

from diagnosis.checks.parsers import PARSERS
from diagnosis.checks.suite import Suite, SuiteError, item_of, suite_of

_CODE = re.compile(r"[-a-zA-Z0-9_]{1,100}")
_FIELDS = ("code", "title", "budget_s", "items")
#: A suite of some hundred items has less than this many characters.
_MOST = 200_000


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and at which line (from 1; 0 where it is about no line)."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


class BadSuite(SuiteError):  # noqa: N818 - named for what the person reads
    """A suite with problems; the message names all of them."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(str(one) for one in problems))
        self.problems = problems


def text_of(definition: Mapping[str, object]) -> str:
    """A suite's definition as YAML, in the order of its fields."""
    dumped: str = yaml.safe_dump(dict(definition), sort_keys=False, allow_unicode=True, width=110)
    return dumped


def checked_document(source: Mapping[str, object] | str) -> tuple[dict[str, object], Suite]:
    """The definition and its suite, from YAML or from a mapping. Raises `BadSuite`."""
    text = source if isinstance(source, str) else text_of(source)
    if len(text) > _MOST:
        raise BadSuite([Problem(0, f"longer than {_MOST} characters")])
    try:
        tree, document = yaml.compose(text, yaml.SafeLoader), yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or str(error)
        raise BadSuite([Problem(mark.line + 1 if mark else 0, f"not YAML: {said}")]) from error
    except (ValueError, RecursionError) as error:
        raise BadSuite([Problem(0, f"not YAML: {error}")]) from error
    problems = list(_problems(document, tree))
    if problems:
        raise BadSuite(problems)
    return document, suite_of(document)


def _problems(document: object, tree: yaml.Node | None) -> Iterator[Problem]:
    if not isinstance(document, Mapping):
        yield Problem(1, "a suite is a mapping with code, title, budget_s and items")
        return
    lines = _lines_of(tree)
    unknown = [name for name in document if name not in _FIELDS]
    if unknown:
        yield Problem(lines.get(str(unknown[0]), 1), f"a suite has no field '{unknown[0]}'")
        return
    code = document.get("code")
    if not isinstance(code, str) or not _CODE.fullmatch(code):
        yield Problem(lines.get("code", 1), "'code' must be letters, digits, - and _")
        return
    rows = document.get("items")
    before = 0
    if isinstance(rows, list):
        places = _items_of(tree)
        for number, row in enumerate(rows):
            for problem in _item_problems(number, row, places[number]):
                before += 1
                yield problem
    if before:
        return
    try:
        suite_of(document)
    except SuiteError as error:
        text = str(error)
        named = next((name for name in lines if f"'{name}'" in text), "items")
        twice = re.match(r"item (\S+) occurs twice", text)
        line = lines.get(named, 1)
        if twice and isinstance(rows, list):
            codes = [row.get("code") for row in rows]
            again = len(codes) - 1 - codes[::-1].index(twice[1])
            line = _items_of(tree)[again].start_mark.line + 1
        yield Problem(line, text)


def _item_problems(number: int, row: object, place: yaml.Node) -> Iterator[Problem]:
    lines, first = _lines_of(place), place.start_mark.line + 1
    try:
        item = item_of(number, row)
    except SuiteError as error:
        named = next((name for name in lines if f"'{name}'" in str(error)), "")
        yield Problem(lines.get(named, first), str(error))
        return
    if item.parser not in PARSERS:
        known = ", ".join(sorted(PARSERS))
        text = f"item {item.code}: there is no parser '{item.parser}'; there are {known}"
        yield Problem(lines.get("parser", first), text)


def _lines_of(node: yaml.Node | None) -> dict[str, int]:
    """The line (from 1) of each key of a mapping."""
    if not isinstance(node, yaml.MappingNode):
        return {}
    return {str(key.value): key.start_mark.line + 1 for key, _ in node.value}


def _items_of(node: yaml.Node | None) -> list[yaml.Node]:
    if not isinstance(node, yaml.MappingNode):
        return []
    last = {str(key.value): value for key, value in node.value}.get("items")
    return list(last.value) if isinstance(last, yaml.SequenceNode) else []
