"""Trying a signature on pasted text."""

from diagnosis.services.trial import MAX_BYTES, Trial, TriedLine, try_out
from diagnosis.taxonomy.rows import signature_from_row
from diagnosis.taxonomy.ruleset import Taxonomy
from tests.diagnosis.taxonomy.rows import row

RIVAL = row(code="rival", pattern="ECC", priority=60, examples=["ECC of the rival"])


def tried(text: str, *others: dict[str, object], **fields: object) -> Trial:
    signature = signature_from_row(row(**{"examples": None, **fields}), "row 1")
    return try_out(signature, Taxonomy.from_rows(others), text)


def first(text: str, *others: dict[str, object], **fields: object) -> TriedLine:
    return tried(text, *others, **fields).lines[0]


def test_lines_that_match_nothing_are_left_out() -> None:
    lines = tried("fine\nTESTFAULT 0000:9b:00\n").lines
    assert [(one.number, one.mine) for one in lines] == [(2, True)]


def test_a_span_counts_columns_as_browsers_do() -> None:
    line = first("é😀 BAD", pattern="BAD")
    assert line.span is not None
    assert (line.span.start, line.span.end) == (4, 7)


def test_a_message_that_begins_after_prefixes_is_marked_where_it_stands() -> None:
    text = "[rank3]: KeyError: 'x'"
    line = first(text, pattern="^KeyError")
    assert line.span is not None
    assert text[line.span.start : line.span.end] == "KeyError"


def test_named_parts_are_told() -> None:
    assert first("TESTFAULT 0000:9b:00").parts == [("pci", "0000:9b:00")]


def test_a_line_lost_by_priority_says_to_whom_and_why() -> None:
    line = first("an ECC error", RIVAL, pattern="error")
    assert (line.winner, line.mine) == ("rival", False)
    assert line.why == "rival (priority 60) is above (priority 50) test-fault"


def test_at_equal_priority_the_severer_wins_and_it_says_so() -> None:
    line = first("an ECC error", RIVAL, pattern="error", priority=60, severity="critical")
    assert line.mine
    assert "is severer" in line.why


def test_an_example_that_another_signature_wins_fails_with_the_reason() -> None:
    (example,) = tried("", RIVAL, pattern="error", examples=["ECC error"]).examples
    assert not example.passes
    assert "rival" in example.why


def test_examples_taken_from_others_are_told() -> None:
    assert tried("", RIVAL, pattern="ECC", priority=90).taken == ["rival"]
    assert tried("", RIVAL, pattern="ECC", priority=10).taken == []


def test_a_signature_that_is_switched_off_wins_nothing() -> None:
    assert tried("TESTFAULT 0000:9b:00", enabled=False).lines == []


def test_coloured_lines_are_matched_cleaned_and_marked_whole() -> None:
    line = first("\x1b[31mTESTFAULT 0000:9b:00\x1b[0m")
    assert line.mine
    assert line.span is None


def test_more_text_than_is_looked_at_is_said() -> None:
    assert tried("x" * (MAX_BYTES + 1)).cut
    assert not tried("x").cut
