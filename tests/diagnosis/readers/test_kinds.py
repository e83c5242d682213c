"""Kinds told by content; by name only for our own files."""

import pytest

from diagnosis.core.words import EvidenceKind
from diagnosis.readers.kinds import HEAD_BYTES, kind_of, kind_of_head
from tests.diagnosis.readers.logs_evidence import log


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("placement.json", EvidenceKind.PLACEMENT),
        ("job/topology.json", EvidenceKind.TOPOLOGY),
        ("other.json", EvidenceKind.LOG),
    ],
)
def test_a_broken_file_of_our_own_is_no_log(name: str, kind: EvidenceKind) -> None:
    assert kind_of(log('{"rank": "zero"', name)) is kind


def test_a_log_with_the_name_of_a_dump_is_a_log() -> None:
    assert kind_of(log("[rank3]: step 1\n", "nccl_trace_rank_3")) is EvidenceKind.LOG


@pytest.mark.parametrize("part", [b" ", b"\n", b"\t\r\n", b"metric,value,time,host,"])
def test_a_head_that_many_patterns_begin_like_is_a_log(part: bytes) -> None:
    assert kind_of_head(part * (HEAD_BYTES // len(part))) is EvidenceKind.LOG
