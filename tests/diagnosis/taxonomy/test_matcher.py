from hypothesis import given
from hypothesis import strategies as st

from diagnosis.taxonomy.ruleset import Taxonomy
from tests.diagnosis.taxonomy.rows import row


def test_the_highest_priority_wins() -> None:
    taxonomy = Taxonomy.from_rows(
        [
            row(code="wrapper", pattern="exception: .*", priority=40),
            row(code="cause", pattern="ECC"),
        ]
    )
    match = taxonomy.matcher.best(b"watchdog exception: uncorrectable ECC error")
    assert match is not None
    assert match.signature.code == "cause"


def test_at_equal_priority_the_severer_wins() -> None:
    rows = [row(code="a", pattern="BOTH", severity="low"), row(code="b", pattern="BOTH")]
    match = Taxonomy.from_rows(rows).matcher.best(b"BOTH")
    assert match is not None
    assert match.signature.code == "b"


def test_named_groups_of_any_branch_become_one_part() -> None:
    taxonomy = Taxonomy.from_rows([row(pattern=r"one (?P<dev>\S+)|two (?P<dev2>\S+)")])
    match = taxonomy.matcher.best(b"two mlx5_3")
    assert match is not None
    assert match.parts == {"dev": "mlx5_3"}


def test_a_caret_means_the_start_of_the_message() -> None:
    matcher = Taxonomy.from_rows([row(pattern="^KeyError: ")]).matcher
    assert matcher.best(b"[rank3]: KeyError: 'x'", b"KeyError: 'x'") is not None
    assert matcher.best(b"[rank3]: caught KeyError: 'x'", b"caught KeyError: 'x'") is None


def test_candidates_are_line_starts_of_every_matching_line() -> None:
    matcher = Taxonomy.from_rows([row(pattern="^BAD")]).matcher
    text = b"fine\nrank 3: BAD\nfine\nBAD again"
    assert list(matcher.candidates(text)) == [5, 22]


def test_a_pattern_over_blanks_misses_no_line() -> None:
    matcher = Taxonomy.from_rows([row(pattern=r"A\s+B"), row(code="c", pattern="CAT")]).matcher
    assert list(matcher.candidates(b"A\nB CAT\nCAT\n")) == [2, 8]


_LINES = st.lists(
    st.text(alphabet="ABC xé:", max_size=12).map(lambda text: text.encode()), max_size=20
)


@given(_LINES)
def test_no_line_that_matches_is_left_out_of_the_candidates(lines: list[bytes]) -> None:
    rows = [
        row(code="a", pattern=r"A+\s*B"),
        row(code="b", pattern="^C"),
        row(code="c", pattern="x$"),
    ]
    matcher = Taxonomy.from_rows(rows).matcher
    text = b"\n".join(lines)
    starts = [sum(len(line) + 1 for line in lines[:index]) for index in range(len(lines))]
    wanted = {start for start, line in zip(starts, lines, strict=True) if matcher.best(line)}
    assert wanted <= set(matcher.candidates(text))
