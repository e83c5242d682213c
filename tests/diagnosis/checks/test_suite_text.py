"""Suites as text: every problem at its line."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.checks.suite import SHIPPED, shipped, shipped_document
from diagnosis.checks.suite_text import BadSuite, checked_document, text_of

TEXT = text_of(shipped_document("cpu"))


@pytest.mark.parametrize("code", SHIPPED)
def test_a_shipped_suite_survives_the_editor(code: str) -> None:
    document, suite = checked_document(text_of(shipped_document(code)))
    assert document == shipped_document(code)
    assert suite == shipped(code)


def test_every_bad_item_is_named() -> None:
    text = TEXT.replace("parser: readings", "parser: no")
    with pytest.raises(BadSuite) as told:
        checked_document(text)
    assert len(told.value.problems) == 9
    assert all(
        text.splitlines()[one.line - 1].strip() == "parser: no" for one in told.value.problems
    )


def test_a_code_that_occurs_twice_is_told_at_its_second_place() -> None:
    text = TEXT.replace("- code: limits", "- code: kernel")
    with pytest.raises(BadSuite) as told:
        checked_document(text)
    (problem,) = told.value.problems
    assert text.splitlines()[problem.line - 1] == "- code: kernel"
    assert problem.line > text.splitlines().index("- code: kernel") + 1


def test_a_field_that_suites_do_not_have_is_told() -> None:
    with pytest.raises(BadSuite, match="line 2: a suite has no field 'bugdet_s'"):
        checked_document("code: cpu\nbugdet_s: 3\n")


@given(text=st.text(max_size=200))
def test_any_text_is_a_suite_or_says_what_is_wrong(text: str) -> None:
    with suppress(BadSuite):
        checked_document(text)


@settings(max_examples=40)
@given(
    place=st.integers(0, TEXT.count("\n") - 1),
    line=st.sampled_from(
        ["", "- x", "  criterion: 3", "  rounds: no", "code: [1]", "items:", "\t"]
    ),
)
def test_any_line_replaced_is_a_suite_or_says_what_is_wrong(place: int, line: str) -> None:
    lines = TEXT.splitlines()
    lines[place] = line
    with suppress(BadSuite):
        checked_document("\n".join(lines))
