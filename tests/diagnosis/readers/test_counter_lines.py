"""The project's own JSON lines of collective counters."""

import json

from hypothesis import given
from hypothesis import strategies as st

from diagnosis.core.counters import NOT_TOLD, Outstanding, Timing
from diagnosis.core.words import EvidenceKind
from diagnosis.readers.counter_lines import read_counter_lines
from diagnosis.readers.counter_sources import read_counters
from diagnosis.readers.kinds import kind_of_head
from tests.diagnosis.recorded_job import evidence

FULL = {
    "time": "2026-03-02T08:00:00Z",
    "comm": "dp0",
    "size": 4,
    "rank": 2,
    "cl": 41,
    "wr": 900,
    "wc": 880,
    "op": {"name": "all_reduce", "seq": 41, "bytes": 4096, "dtype": "Float"},
    "oldest_outstanding": {"peer": 3, "posted": 1772438380.5},
    "td_us": 1200,
    "bytes_per_us": 3.5,
}


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_a_full_line_gives_every_counter():
    (row,) = read_counter_lines(evidence(lines(FULL), "counters.jsonl")).rows
    assert (row.global_rank, row.launched, row.wr, row.wc) == (2, 41, 900, 880)
    assert row.time == 1772438400.0
    assert row.oldest == Outstanding(peer=3, posted=1772438380.5)
    assert row.timings == (Timing("all_reduce", 41, 1200, 3.5),)


def test_without_wr_and_wc_neither_is_filled_from_anything_else():
    (row,) = read_counter_lines(evidence(lines({"comm": "c", "rank": 0, "cl": 7}), "x")).rows
    assert (row.wr, row.wc, row.completed) == (NOT_TOLD, NOT_TOLD, NOT_TOLD)


def test_lines_that_are_no_counters_are_counted_and_passed_over():
    content = lines(FULL, {"comm": "dp0"}, [1]) + b'{"comm": "dp0", "ra'
    sheet = read_counter_lines(evidence(content, "cut.jsonl"))
    assert len(sheet.rows) == 1
    assert sheet.notes == ("cut.jsonl: 3 lines are no counters and were passed over",)


def test_the_kind_is_told_by_content():
    assert kind_of_head(lines(FULL)) is EvidenceKind.COUNTERS


def test_training_records_that_name_a_rank_stay_a_log():
    record = {"rank": 0, "step": 3, "loss": 2.5}
    assert kind_of_head(lines(record)) is EvidenceKind.LOG


@given(st.binary(max_size=400))
def test_arbitrary_bytes_never_raise(content: bytes):
    sheet, skipped = read_counters([evidence(content, "odd"), evidence(lines(FULL), "good")])
    assert len(sheet.rows) >= 1
    assert all(item.file == "odd" for item in skipped)
