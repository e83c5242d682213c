import pytest

from diagnosis.taxonomy.ruleset import Taxonomy, TaxonomyError
from tests.diagnosis.taxonomy.rows import row


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"class": "terrible"}, "unknown class 'terrible'"),
        ({"action": "reboot"}, "unknown action 'reboot'"),
        ({"severity": 3}, "unknown severity 3"),
        ({"pattern": "("}, "RE2 refuses"),
        ({"title": None}, "'title' must be a text"),
        ({"priority": "high"}, "'priority' must be a whole number"),
        ({"examples": "one"}, "'examples' must be a list"),
        ({"escalates": {"to": "critical", "key": "gpu"}}, "'window_hours' must be a number"),
    ],
)
def test_a_broken_row_is_refused_by_place_code_and_reason(
    changes: dict[str, object], reason: str
) -> None:
    with pytest.raises(TaxonomyError, match=rf"row 2 \(second\).*: .*{reason}"):
        Taxonomy.from_rows([row(), row(code="second", **changes)])


def test_a_duplicate_code_is_refused_with_both_rows() -> None:
    with pytest.raises(TaxonomyError, match=r"row 3 \(test-fault\): the code is taken by row 1"):
        Taxonomy.from_rows([row(), row(code="other"), row()])


def test_a_disabled_row_is_checked_all_the_same() -> None:
    with pytest.raises(TaxonomyError, match="RE2 refuses"):
        Taxonomy.from_rows([row(pattern="(", enabled=False)])


def test_a_disabled_row_matches_nothing() -> None:
    taxonomy = Taxonomy.from_rows([row(enabled=False), row(code="other", pattern="OTHER")])
    assert [signature.code for signature in taxonomy.signatures] == ["other"]


def test_the_version_does_not_depend_on_the_order_of_rows() -> None:
    rows = [row(), row(code="other", pattern="OTHER")]
    assert Taxonomy.from_rows(rows).version == Taxonomy.from_rows(rows[::-1]).version


@pytest.mark.parametrize(
    "changes", [{"pattern": "NEW"}, {"action": "watch"}, {"priority": 51}, {"enabled": False}]
)
def test_the_version_changes_with_every_rule_that_can_change_a_verdict(
    changes: dict[str, object],
) -> None:
    other = row(code="other", pattern="OTHER")
    assert (
        Taxonomy.from_rows([row(**changes), other]).version
        != Taxonomy.from_rows([row(), other]).version
    )


def test_the_version_does_not_change_with_an_explanation() -> None:
    changed = Taxonomy.from_rows([row(explanation="said better")])
    assert changed.version == Taxonomy.from_rows([row()]).version


@pytest.mark.parametrize("text", ["- a list", "signatures: 3", "{", "nothing: here"])
def test_yaml_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(TaxonomyError):
        Taxonomy.from_yaml(text)


def test_an_empty_taxonomy_matches_nothing() -> None:
    matcher = Taxonomy.from_rows([]).matcher
    assert (list(matcher.candidates(b"any line\n")), matcher.best(b"any line")) == ([], None)
