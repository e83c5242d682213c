from diagnosis.taxonomy.changes import ChangeKind, compare
from diagnosis.taxonomy.rulebook import Rulebook
from tests.diagnosis.taxonomy.rows import row


def test_rows_are_added_changed_and_removed_by_code() -> None:
    before = [row(code="a"), row(code="b"), row(code="c")]
    after = [row(code="d"), row(code="c"), row(code="b", priority=60)]
    assert [(one.name, one.kind) for one in compare(before, after)] == [
        ("a", ChangeKind.REMOVED),
        ("b", ChangeKind.CHANGED),
        ("d", ChangeKind.ADDED),
    ]


def test_a_change_tells_its_fields_before_and_after() -> None:
    (change,) = compare([row(source="x")], [row(priority=60)])
    told = [(one.name, one.before, one.after) for one in change.fields]
    assert told == [("priority", 50, 60), ("source", "x", None)]


def test_equal_rulebooks_differ_in_no_section() -> None:
    assert Rulebook(signatures=[row()]).changes_to(Rulebook(signatures=[row()])) == {}


def test_a_changed_ignore_rule_counts_as_removed_and_added() -> None:
    rule = {"signature": "x", "host": "n", "reason": "r", "expires": "2026-12-01T00:00:00Z"}
    one, other = Rulebook(ignore_rules=[rule]), Rulebook(ignore_rules=[{**rule, "reason": "s"}])
    changes = one.changes_to(other)["ignore rules"]
    assert [change.kind for change in changes] == [ChangeKind.ADDED, ChangeKind.REMOVED]
