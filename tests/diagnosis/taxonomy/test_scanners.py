"""Both scanners lead to the same answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.generated_logs import HEALTHY, PLAIN, generate
from diagnosis.taxonomy.matcher import Matcher
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.taxonomy.scanners import Re2Scanner, scanner_for
from tests.diagnosis.taxonomy.rows import row

pytest.importorskip("hyperscan", reason="the quicker scanner's wheel is not installed")

SHIPPED = Taxonomy.default()
EXAMPLES = [example for one in SHIPPED.signatures for example in one.examples]
BOTH = (SHIPPED.matcher, Matcher(SHIPPED.signatures, native=True))
ROWS = [
    row(code="a", pattern=r"A+\s*B"),
    row(code="b", pattern="^C"),
    row(code="c", pattern="x$"),
    row(code="d", pattern=r"(?i)é:"),
]
SMALL = Taxonomy.from_rows(ROWS).signatures


def answers(matcher: Matcher, text: bytes) -> list[tuple[int, str, dict[str, str]]]:
    """Start of line, code and parts of every line that matches."""
    found = []
    for start, line, possible in matcher.hits(text):
        match = matcher.best(line, line.partition(b"]: ")[2], possible)
        if match is not None:
            found.append((start, match.signature.code, dict(match.parts)))
    return found


def test_the_quicker_scanner_is_in_use() -> None:
    assert not isinstance(scanner_for(["BAD"], native=True), Re2Scanner)


def test_patterns_that_it_does_not_take_are_left_to_re2() -> None:
    assert isinstance(scanner_for(["(?U)BAD.*"], native=True), Re2Scanner)


def test_every_shipped_example_gets_the_same_answer() -> None:
    text = "\n".join(EXAMPLES).encode()
    re2, native = (answers(matcher, text) for matcher in BOTH)
    assert re2 == native
    assert len(re2) == len(EXAMPLES)


def test_generated_logs_get_the_same_answers() -> None:
    chunks = generate(2_000_000, rate=0.05, faults=EXAMPLES, benign=(*PLAIN, *HEALTHY))
    text = b"".join(chunks).replace(b"\r", b"\n")
    re2, native = (answers(matcher, text) for matcher in BOTH)
    assert re2 == native


@given(st.text(alphabet="ABCx\n é:\t", max_size=60))
def test_any_text_gets_the_same_answers(text: str) -> None:
    matchers = (Matcher(SMALL), Matcher(SMALL, native=True))
    re2, native = (answers(matcher, text.encode()) for matcher in matchers)
    assert re2 == native
