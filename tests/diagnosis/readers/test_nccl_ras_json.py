"""NCCL RAS answers in JSON."""

from contextlib import suppress

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.core.ras import RasProcess, RasStatus
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.nccl_ras_json import read_ras_json
from tests.diagnosis.sources.ras_service import answer, lost, rank

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)


def test_a_rank_is_told_with_its_place_and_state() -> None:
    aborted = rank(3, "10.0.0.1", 2, 41, status={"init_state": 7, "abort_flag": True})
    member = read_ras_json(answer(("0xaa", [aborted], []))).communicators[0].ranks[0]
    assert member.process == RasProcess("10.0.0.1", 1002, 2, 2)
    assert (member.init_state, member.aborted, member.destroyed) == (7, True, False)
    assert member.launched == {"Broadcast": 1, "AllReduce": 41}


def test_a_lost_rank_is_told_apart_from_a_dead_one() -> None:
    missing = [lost(0, "a", 0, dead=False), lost(1, "b", 0, dead=True)]
    members = read_ras_json(answer(("0xaa", [], missing))).communicators[0].lost
    assert [(member.unresponsive, member.dead) for member in members] == [
        (True, False),
        (True, True),
    ]


def test_an_operation_of_a_later_version_is_taken_as_found() -> None:
    later = rank(0, "a", 0, 1, collective_counts={"AlltoAll": 5, "AllReduce": 2})
    member = read_ras_json(answer(("0xaa", [later], []))).communicators[0].ranks[0]
    assert member.total_launched == 7


def test_memberships_that_the_answer_leaves_out_are_noted() -> None:
    content = orjson.loads(answer(("0xaa", [rank(0, "a", 0, 1)], [])))
    content["communicators"][0]["size"] = 3
    assert read_ras_json(orjson.dumps(content)).notes == ("RAS says nothing of 2 memberships",)


def test_a_job_before_its_first_communicator_is_a_status() -> None:
    status = read_ras_json(answer())
    assert (status.communicators, status.nccl_version) == ((), "2.29.2")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not whole JSON"),
        (answer()[:-9], "not whole JSON"),
        (b"[]", "no 'communicators'"),
        (b'{"communicators": {}}', "'communicators' is no list"),
        (b'{"communicators": [1]}', "is no object"),
        (b'{"communicators": [{"ranks": [{}]}]}', "'rank' is no whole number"),
        (b'{"communicators": [{"size": "8"}]}', "'size' is no whole number"),
        (b'{"communicators": [], "ras": 3}', "'ras' holds what is no object"),
    ],
)
def test_what_is_no_status_is_refused_with_its_reason(content: bytes, reason: str) -> None:
    with pytest.raises(UnreadableEvidence, match=reason):
        read_ras_json(content)


@settings(max_examples=60)
@given(ranks=JSON, missing=JSON, ras=JSON)
def test_any_json_is_a_status_or_unreadable(ranks: object, missing: object, ras: object) -> None:
    communicator = {"hash": "0xaa", "ranks": ranks, "missing_ranks": missing}
    content = orjson.dumps({"communicators": [communicator], "ras": ras})
    with suppress(UnreadableEvidence):
        assert isinstance(read_ras_json(content), RasStatus)
