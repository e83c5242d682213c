"""Escalation: what repeats on one part, across jobs, within a time."""

from dataclasses import replace

from diagnosis.core.words import SignatureClass
from diagnosis.taxonomy.escalation import Escalated, PastFinding, escalations
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.taxonomy.signature import Escalation

HOUR = 3600.0
BASE = Taxonomy.default().by_code["xid-13-graphics-exception"]
RULE = Escalation(SignatureClass.CRITICAL, "gpu", 2, 72, across_jobs=True)
ON = {BASE.code: replace(BASE, escalates=RULE)}
NOW = PastFinding(BASE.code, 1000 * HOUR, "node-01", "GPU-7f", "job-9", "ana")


def fired(*history: PastFinding, now: PastFinding = NOW) -> list[Escalated]:
    return escalations([now], history, ON)


def earlier(hours: float = 1, part: str | None = "GPU-7f") -> PastFinding:
    return replace(NOW, time=NOW.time - hours * HOUR, job="job-8", owner="bo", part=part)


def test_a_repeat_on_one_gpu_in_another_job_escalates() -> None:
    (found,) = fired(earlier())
    assert (found.to, len(found.hits)) == (SignatureClass.CRITICAL, 2)
    assert found.text == (
        "xid-13-graphics-exception on GPU-7f of node-01: 2nd time in 3 days, over 2 jobs of "
        "2 owners"
    )


def test_an_idea_is_off_until_a_person_makes_a_rule_of_it() -> None:
    assert BASE.escalation_idea is not None
    assert escalations([NOW], [earlier()], {BASE.code: BASE}) == []


def test_another_gpu_another_job_or_an_old_finding_do_not_count() -> None:
    assert fired(earlier(part="GPU-aa")) == []
    assert fired(replace(earlier(), job="job-9")) == []
    assert fired(earlier(hours=73)) == []


def test_the_same_owner_in_every_job_proves_nothing_of_what_code_can_cause() -> None:
    assert fired(replace(earlier(), owner="ana")) == []


def test_a_broken_memory_cell_does_not_ask_who_owns_the_job() -> None:
    contained = Taxonomy.default().by_code["xid-94-contained-memory-error"]
    now = replace(NOW, code=contained.code)
    before = replace(earlier(), code=contained.code, owner="ana")
    assert len(escalations([now], [before], {contained.code: contained})) == 1


def test_a_part_that_is_not_named_is_not_counted() -> None:
    assert fired(earlier(part=None), now=replace(NOW, part=None)) == []


def test_a_device_with_a_name_takes_its_past_to_another_host() -> None:
    moved = replace(NOW, host="node-02", identified=True)
    assert len(fired(replace(earlier(), identified=True), now=moved)) == 1


def test_the_same_slot_of_another_host_has_a_past_of_its_own() -> None:
    slot = replace(earlier(part="0000:9b:00.0"), host="node-02")
    assert fired(slot, now=replace(NOW, part="0000:9b:00.0")) == []


def test_a_line_that_was_handed_in_twice_counts_once() -> None:
    assert fired(NOW) == []
    assert fired(replace(NOW, job="job-8", owner="bo")) == []
