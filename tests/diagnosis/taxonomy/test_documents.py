import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.taxonomy.documents import read_document, to_yaml
from diagnosis.taxonomy.fields import TaxonomyError
from diagnosis.taxonomy.rulebook import Rulebook
from tests.diagnosis.taxonomy.rows import row

WINDOW = {
    "cluster": "lab",
    "hosts": ["node-1"],
    "from": "2026-12-01T08:00:00Z",
    "until": "2026-12-01T09:00:00Z",
    "reason": "new fans",
}


def test_what_is_written_is_read_back_as_it_was() -> None:
    book = Rulebook(signatures=[row(pattern=r"é \d+: '#'")], maintenance=[WINDOW])
    sections = read_document(to_yaml(book).encode()).sections
    assert [dict(one.fields) for one in sections["signatures"]] == list(book.signatures)
    assert [dict(one.fields) for one in sections["maintenance"]] == [WINDOW]


def test_rows_say_on_which_line_they_stand() -> None:
    document = read_document(b"signatures:\n- code: a\n\n- code: b\n")
    assert [one.where for one in document.sections["signatures"]] == [
        "row 1 (line 2)",
        "row 2 (line 4)",
    ]


def test_times_are_read_whether_quoted_or_not() -> None:
    text = b"maintenance:\n- {from: 2026-12-01 08:00:00, until: '2026-12-01T09:00:00Z'}\n"
    (one,) = read_document(text).sections["maintenance"]
    assert one.fields == {"from": "2026-12-01T08:00:00Z", "until": "2026-12-01T09:00:00Z"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("signatures:\n- code: a\n  code: b\n", "row 1 (line 2): says 'code' twice"),
        ("signatures:\n- just text\n", "row 1 (line 2): must be a mapping of fields"),
        ("rules: []\nsignatures: []\n", "line 1: unknown section 'rules'"),
        ("signatures: 3\n", "line 1: 'signatures' must be a list"),
        ("signatures:\n- code: !!python/name:os.system x\n", "row 1 (line 2): could not determine"),
        ("signatures:\n- priority: .nan\n", "row 1 (line 2): a number must be finite"),
    ],
)
def test_mistakes_are_told_with_their_line(text: str, problem: str) -> None:
    (told,) = read_document(text.encode()).problems
    assert told.startswith(problem)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- a list", "must hold 'signatures:'"),
        ("", "must hold 'signatures:'"),
        ("signatures:\n  - {a: [", "line 3: not YAML"),
        ("signatures: &a\n- *a\n", "aliases"),
        ("[" * 5000, "not YAML|nested"),
    ],
)
def test_what_is_no_rulebook_is_refused(text: str, reason: str) -> None:
    with pytest.raises(TaxonomyError, match=reason):
        read_document(text.encode())


@given(st.binary(max_size=200))
def test_no_bytes_make_it_raise_anything_else(content: bytes) -> None:
    try:
        read_document(content)
    except TaxonomyError as error:
        assert str(error)  # noqa: PT017 - any bytes may also be read without complaint
