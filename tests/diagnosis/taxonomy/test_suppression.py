from dataclasses import replace
from datetime import UTC, datetime

import pytest

from diagnosis.taxonomy.fields import TaxonomyError
from diagnosis.taxonomy.rulebook import Rulebook
from diagnosis.taxonomy.ruleset import Taxonomy, rules_version
from diagnosis.taxonomy.suppression import (
    IgnoreRule,
    MaintenanceWindow,
    Suppression,
    SuppressionRules,
)
from tests.diagnosis.taxonomy.rows import row

AT = datetime(2026, 12, 1, 8, tzinfo=UTC).timestamp()
HOUR = 3600.0
IGNORED = IgnoreRule("known", expires=AT + HOUR, signature="xid-63", host="node-1")
WINDOW = MaintenanceWindow("lab", start=AT, end=AT + HOUR, reason="new fans", hosts=("node-1",))


def ignoring(*rules: IgnoreRule, at: float | None = AT) -> Suppression:
    return Suppression(SuppressionRules(ignore=rules), at=at)


def maintaining(window: MaintenanceWindow, **known: object) -> Suppression:
    return Suppression(SuppressionRules(maintenance=(window,)), **known)  # type: ignore[arg-type]


def test_an_ignored_signature_is_silenced_on_its_host_however_that_is_spelt() -> None:
    reason = ignoring(IGNORED).reason(signature="xid-63", host="NODE-1.cluster.local")
    assert reason == "ignored until 2026-12-01 09:00 UTC: known"


@pytest.mark.parametrize(
    ("signature", "host"), [("xid-79", "node-1"), ("xid-63", "node-2"), ("xid-63", None)]
)
def test_other_signatures_and_hosts_are_not_ignored(signature: str, host: str | None) -> None:
    assert ignoring(IGNORED).reason(signature=signature, host=host) is None


def test_a_rule_does_not_count_for_incidents_that_begin_after_it_expires() -> None:
    late = ignoring(IGNORED, at=AT + HOUR)
    assert late.reason(signature="xid-63", host="node-1") is None


def test_a_pattern_is_looked_for_in_the_line() -> None:
    suppression = ignoring(IGNORED, replace(IGNORED, signature="", pattern="pid=77"))
    assert suppression.rules_on(b"Xid 31, pid=77") == {1}
    assert suppression.reason(signature="xid-31", host="node-1", on_line=frozenset({1}))
    assert suppression.reason(signature="xid-31", host="node-1") is None


@pytest.mark.parametrize(
    ("first", "last", "silenced"),
    [
        (AT, AT + HOUR, True),
        (AT - 1, AT + 5, False),
        (AT + 5, AT + HOUR + 1, False),
        (None, None, True),
    ],
)
def test_maintenance_silences_what_lies_within_its_time(
    first: float | None, last: float | None, silenced: bool
) -> None:
    suppression = maintaining(WINDOW, at=AT + 60)
    reason = suppression.reason(signature="any", host="node-1", first=first, last=last)
    assert (reason is not None) is silenced


def test_maintenance_of_a_job_counts_for_that_job() -> None:
    window = replace(WINDOW, hosts=(), job="4711")
    answers = [
        maintaining(window, job=job, at=AT).maintenance_of("any-host") for job in ("4711", "4712")
    ]
    assert [answer is not None for answer in answers] == [True, False]


def test_maintenance_of_a_cluster_covers_findings_of_unknown_hosts() -> None:
    assert maintaining(replace(WINDOW, hosts=()), at=AT).maintenance_of(None) is not None


def test_rules_of_another_cluster_do_not_count() -> None:
    book = Rulebook(
        signatures=[row()],
        ignore_rules=[
            {"signature": "x", "cluster": "lab", "reason": "r", "expires": "2026-12-01T09:00:00Z"}
        ],
    )
    assert book.rules_of("lab").suppression
    assert not book.rules_of("prod").suppression


def test_the_version_covers_what_is_silenced() -> None:
    taxonomy = Taxonomy.from_rows([row()])
    versions = {
        rules_version(taxonomy, rules)
        for rules in (
            SuppressionRules(),
            SuppressionRules(ignore=(IGNORED,)),
            SuppressionRules(ignore=(replace(IGNORED, host="node-2"),)),
            SuppressionRules(maintenance=(WINDOW,)),
        )
    }
    assert len(versions) == 4
    assert taxonomy.version in versions


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"signature": "x", "host": "n", "reason": "r"}, "'expires' must be a time"),
        ({"host": "n", "reason": "r", "expires": "2026-12-01"}, "give a signature or a pattern"),
        ({"signature": "x", "reason": "r", "expires": "2026-12-01"}, "the host or the cluster"),
        ({"pattern": "(", "host": "n", "reason": "r", "expires": "2026-12-01"}, "RE2 refuses"),
        ({"signature": "x", "host": "n", "expires": "2026-12-01"}, "'reason' must be a text"),
    ],
)
def test_a_broken_ignore_rule_is_refused(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(TaxonomyError, match=reason):
        IgnoreRule.from_row(fields, "ignore rule 1")


def test_a_window_that_ends_before_it_begins_is_refused() -> None:
    fields = {"cluster": "lab", "from": "2026-12-02", "until": "2026-12-01", "reason": "r"}
    with pytest.raises(TaxonomyError, match="ends before it begins"):
        MaintenanceWindow.from_row(fields, "maintenance window 1")
