"""NCCL RAS answers that are handed in as files."""

from diagnosis.core.counters import NOT_TOLD
from diagnosis.core.words import EvidenceKind
from diagnosis.readers.counter_sources import read_counters
from diagnosis.readers.kinds import kind_of_head
from tests.diagnosis.recorded_job import evidence
from tests.diagnosis.sources.ras_service import answer, lost, rank

ANSWER = answer(
    ("0xaa", [rank(n, f"10.0.0.{n}", 0, 5) for n in range(3)], [lost(3, "10.0.0.3", 0, dead=True)])
)


def test_launches_of_all_types_are_cl_and_nothing_else_is_told():
    sheet, skipped = read_counters([evidence(ANSWER, "ras.json")])
    assert not skipped
    first = sheet.rows[0]
    assert first.launched > 0
    assert (first.completed, first.wr, first.wc) == (NOT_TOLD, NOT_TOLD, NOT_TOLD)


def test_a_rank_that_did_not_answer_has_a_row_without_a_count():
    sheet, _ = read_counters([evidence(ANSWER, "ras.json")])
    assert [row.launched for row in sheet.rows if row.rank == 3] == [NOT_TOLD]


def test_a_damaged_answer_is_skipped_with_its_reason():
    sheet, skipped = read_counters([evidence(ANSWER[:-30], "ras.json")])
    assert not sheet.rows
    assert "not whole JSON" in skipped[0].reason


def test_the_kind_is_told_by_content():
    assert kind_of_head(ANSWER) is EvidenceKind.COUNTERS
