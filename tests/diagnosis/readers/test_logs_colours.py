from hypothesis import given
from hypothesis import strategies as st

from diagnosis.readers.line_ends import line_end, line_starts
from diagnosis.readers.logs_colours import coloured_lines, without_colours

PIECES = st.lists(
    st.sampled_from(
        [
            "\x1b[36m",
            "\x1b[0m",
            "\x1b[1;31m",
            "\x1b]0;title\x07",
            "\x1b[2K",
            "\x1b",
            "\x1b[",
            "a b",
            "\n",
            "\r",
            "\r\n",
            "m",
            "é",
        ]
    ),
    max_size=30,
)


def test_plain_codes_of_a_long_text_are_taken_out() -> None:
    line = b"\x1b[36m12:00:00\x1b[0m \x1b[1;31mERROR\x1b[0m: x\n"
    assert without_colours(line * 500) == b"12:00:00 ERROR: x\n" * 500


def test_other_control_sequences_of_a_long_text_are_taken_out() -> None:
    line = b"\x1b]0;title\x07one\x1b[?25l two\x1b(B\n"
    assert without_colours(line * 500) == b"one two(B\n" * 500


@given(PIECES, st.integers(1, 400))
def test_the_size_of_a_text_makes_no_difference(pieces: list[str], times: int) -> None:
    text = "".join(pieces).encode() + b"\n"
    assert without_colours(text * times) == without_colours(text) * times


@given(PIECES, st.sampled_from([1, 200]))
def test_every_coloured_line_is_found_where_it_stands(pieces: list[str], plain: int) -> None:
    text = ("x" * plain + "\n").join(["", *pieces, "end"]).encode()
    found = coloured_lines(text)
    whole = lines_of(text)
    seen = {found.origin(start): line for start, line in lines_of(found.text).items()}
    coloured = {at: without_colours(line) for at, line in whole.items() if b"\x1b" in line}
    coloured = {at: line for at, line in coloured.items() if at in seen or line}
    assert coloured.items() <= seen.items()
    assert all(without_colours(whole[at]) == line for at, line in seen.items())


def lines_of(text: bytes) -> dict[int, bytes]:
    """Where each line begins, and the line."""
    return {start: text[start : line_end(text, start)] for start in line_starts(text).tolist()}
