"""Lines out of files of any size and encoding."""

import gzip
import io

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from incidents.excerpts import LINE_LIMIT, Excerpt, excerpt


def around(content: bytes, line: int, *, before: int = 2, after: int = 2) -> Excerpt:
    return excerpt(io.BytesIO(content), line=line, before=before, after=after)


def numbered(count: int) -> bytes:
    return b"".join(b"line %d\n" % number for number in range(1, count + 1))


def test_the_lines_around_one_are_given_with_it_marked():
    found = around(numbered(10), 5)
    assert [(one.number, one.text, one.marked) for one in found.lines] == [
        (3, "line 3", False),
        (4, "line 4", False),
        (5, "line 5", True),
        (6, "line 6", False),
        (7, "line 7", False),
    ]
    assert found.more


@given(st.integers(1, 400), st.integers(1, 400))
def test_the_marked_line_is_the_asked_one(count: int, line: int):
    marked = [one.text for one in around(numbered(count), line).lines if one.marked]
    assert marked == ([f"line {line}"] if line <= count else [])


def test_a_line_far_inside_a_large_file_is_reached():
    content = numbered(400_000)
    assert around(content, 399_999).lines[2].text == "line 399999"


def test_a_line_beyond_the_end_is_told_in_words():
    assert "no line 50" in around(numbered(3), 50).note


def test_the_last_line_needs_no_line_feed():
    assert [one.text for one in around(b"a\nb", 2).lines] == ["a", "b"]


def test_latin_1_is_read_where_it_is_no_utf_8():
    assert around("Lüfter\n".encode("latin-1"), 1).lines[0].text == "Lüfter"


def test_utf_16_with_its_mark_is_read():
    assert around("erste\nzweite\n".encode("utf-16"), 2).lines[1].text == "zweite"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_compressed_content_is_unpacked(pack):
    assert around(pack(numbered(5)), 4).lines[2].text == "line 4"


def test_compressed_content_that_breaks_off_is_told_in_words():
    packed = gzip.compress(numbered(100_000))[:200]
    assert "not reached" in around(packed, 90_000).note


def test_colours_are_taken_off_and_other_control_characters_made_visible():
    assert around(b"\x1b[31mred\x1b[0m\x07\rtwice\n", 1).lines[0].text == "red␇␍twice"


def test_marks_that_turn_the_direction_of_text_are_made_harmless():
    assert "\u202e" not in around("a\u202eb\n".encode(), 1).lines[0].text


def test_a_line_without_end_is_cut():
    line = around(b"x" * 5_000_000, 1).lines[0]
    assert (len(line.text), line.cut) == (LINE_LIMIT, True)


def test_binary_content_has_no_lines():
    found = around(b"\x80\x02}\x00\x00\n", 1)
    assert (found.binary, found.lines) == (True, ())


@given(st.binary(max_size=300), st.integers(1, 5))
def test_any_bytes_end_in_lines_or_words(content: bytes, line: int):
    found = around(content, line)
    assert found.binary or found.note or any(one.marked for one in found.lines)
