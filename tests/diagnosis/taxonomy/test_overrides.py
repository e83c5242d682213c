import pytest

from diagnosis.taxonomy.fields import TaxonomyError
from diagnosis.taxonomy.rulebook import Rulebook
from diagnosis.taxonomy.ruleset import Taxonomy
from tests.diagnosis.taxonomy.rows import row


def override(**fields: object) -> dict[str, object]:
    given = {"cluster": "lab", "signature": "test-fault", "reason": "old boards", **fields}
    return {name: value for name, value in given.items() if value is not None}


def book(*overrides: dict[str, object]) -> Rulebook:
    return Rulebook(signatures=[row()], overrides=overrides)


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ({"class": "degradation"}, "cls", "degradation"),
        ({"action": "watch"}, "action", "watch"),
        ({"priority": 0}, "priority", 0),
    ],
)
def test_an_override_changes_its_field_in_its_cluster(
    change: dict[str, object], field: str, value: object
) -> None:
    rules = book(override(**change)).rules_of("lab")
    assert getattr(rules.taxonomy.by_code["test-fault"], field) == value


def test_a_disabled_signature_is_gone_in_its_cluster_only() -> None:
    rules = book(override(disabled=True))
    assert [len(rules.rules_of(name).taxonomy) for name in ("lab", "prod")] == [0, 1]


def test_only_the_cluster_with_an_override_has_a_version_of_its_own() -> None:
    versions = book(override(action="watch")).versions()
    assert versions[""] == Taxonomy.from_rows([row()]).version != versions["lab"]


def test_an_override_of_a_signature_that_is_switched_off_does_nothing() -> None:
    rules = Rulebook(signatures=[row(enabled=False)], overrides=[override(action="watch")])
    assert len(rules.rules_of("lab").taxonomy) == 0


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "overrides nothing"),
        ({"action": "reboot"}, "unknown action 'reboot'"),
        ({"priority": "high"}, "must be a whole number"),
        ({"disabled": True, "reason": None}, "'reason' must be a text"),
        ({"disabled": True, "cluster": None}, "'cluster' must be a text"),
        ({"disabeld": True}, "unknown field 'disabeld'"),
    ],
)
def test_a_broken_override_is_refused_with_the_reason(
    fields: dict[str, object], reason: str
) -> None:
    with pytest.raises(TaxonomyError, match=reason):
        book(override(**fields)).check()


def test_two_overrides_of_one_signature_in_one_cluster_are_refused() -> None:
    rules = book(override(disabled=True), override(action="watch"))
    with pytest.raises(TaxonomyError, match=r"override 2 .*already in override 1"):
        rules.check()


def test_signatures_of_one_fault_type_must_agree_on_it() -> None:
    rows = [row(), row(code="second", fault_type="test-fault", title="Another title")]
    with pytest.raises(TaxonomyError, match=r"row 2 \(second\).*must have the same title"):
        Rulebook(signatures=rows).check()
