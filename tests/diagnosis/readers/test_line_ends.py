import re

from hypothesis import given
from hypothesis import strategies as st

from diagnosis.readers.line_ends import (
    after_break,
    breaks_between,
    line_end,
    line_start,
    line_starts,
)

TEXTS = st.text(alphabet="ab\r\n", max_size=30).map(str.encode)


def spans(text: bytes) -> list[tuple[int, int, int]]:
    """Begin and end of each line, and where the next one begins."""
    found = [
        (at.start(), at.end(1), at.end())
        for at in re.finditer(rb"([^\r\n]*)(\r\n|.|$)", text, re.DOTALL)
    ]
    return [span for span in found if span[0] < len(text)]


@given(TEXTS)
def test_lines_end_at_feeds_at_returns_and_at_both_together(text: bytes) -> None:
    lines = spans(text)
    assert line_starts(text).tolist() == [begin for begin, _, _ in lines]
    for begin, end, following in lines:
        assert line_end(text, begin) == end
        assert after_break(text, end) == max(following, end + 1)
        assert {line_start(text, at) for at in range(begin, following)} == {begin}
        assert breaks_between(text, 0, begin) == lines.index((begin, end, following))


def test_the_end_of_a_long_line_is_not_looked_for_beyond_a_bound() -> None:
    assert line_end(b"a" * 9, 2, 5) == 5
    assert line_end(b"a" * 9, 2, 50) == 9
