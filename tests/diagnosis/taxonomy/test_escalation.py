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


def fired(*history: PastFinding, enabled: bool = True) -> list[Escalated]:
    return escalations([NOW], history, ON, enabled=enabled)


def earlier(hours: float = 1, part: str | None = "GPU-7f") -> PastFinding:
    return replace(NOW, time=NOW.time - hours * HOUR, job="job-8", owner="bo", part=part)


def test_a_repeat_on_one_gpu_in_another_job_escalates() -> None:
    (found,) = fired(earlier())
    assert (found.to, len(found.hits)) == (SignatureClass.CRITICAL, 2)
    assert found.text.startswith(f"{BASE.code} 2 times on GPU-7f in 2 jobs")


def test_nothing_escalates_unless_asked_for() -> None:
    assert fired(earlier(), enabled=False) == []


def test_shipped_ideas_stay_off_and_can_be_tried() -> None:
    shipped = {BASE.code: BASE}
    assert escalations([NOW], [earlier()], shipped, enabled=True) == []
    assert escalations([NOW], [earlier()], shipped, enabled=True, with_ideas=True) != []


def test_another_gpu_another_job_or_an_old_finding_do_not_count() -> None:
    assert fired(earlier(part="GPU-aa")) == []
    assert fired(replace(earlier(), job="job-9")) == []
    assert fired(earlier(hours=73)) == []


def test_the_same_owner_in_every_job_proves_nothing() -> None:
    assert fired(replace(earlier(), owner="ana")) == []


def test_a_part_that_is_not_named_is_not_counted() -> None:
    assert escalations([replace(NOW, part=None)], [earlier(part=None)], ON, enabled=True) == []


def test_a_finding_that_is_in_the_history_already_counts_once() -> None:
    assert fired(NOW) == []
