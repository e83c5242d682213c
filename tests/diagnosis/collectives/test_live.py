"""Following live progress: what counts as movement, as late, as a pause."""

from typing import Any

import numpy as np
import pytest

from diagnosis.collectives.live import follow
from diagnosis.core.live_progress import LiveProgress
from diagnosis.core.packing import UnusableState, pack, unpack
from diagnosis.readers.progress_reports import read_reports


def report(rank: int, count: int, **more: Any) -> dict[str, Any]:
    comm = {"comm": "dp", "enqueued": count, "completed": count}
    return {"rank": rank, "comms": [comm], **more}


def after(*calls: tuple[float, list[dict[str, Any]]]) -> LiveProgress:
    known: LiveProgress | None = None
    for time, reports in calls:
        known, _ = follow(known, read_reports({"time": time, "reports": reports}))
    assert known is not None
    return known


def test_a_rank_that_shows_the_same_has_stood_since_its_first_such_report():
    known = after(
        (0, [report(0, 1), report(1, 1)]),
        (30, [report(0, 2), report(1, 1)]),
        (60, [report(0, 3), report(1, 1)]),
    )

    assert known.changed.tolist() == [60, 0]
    assert known.seen.tolist() == [60, 60]


def test_a_call_sent_twice_or_late_changes_nothing():
    once = after((0, [report(0, 1)]), (30, [report(0, 2)]))
    batch = read_reports({"time": 30, "reports": [report(0, 2)]})
    older = read_reports({"time": 10, "reports": [report(0, 1)]})

    again, late = follow(once, batch)
    assert (again, late) == (once, 1)
    assert follow(once, older)[0] == once


def test_hosts_may_report_on_their_own():
    known = after((0, [report(0, 1)]), (5, [report(7, 1)]), (10, [report(3, 4)]))

    assert known.ranks.tolist() == [0, 3, 7]
    assert known.counters.rank.tolist() == [0, 3, 7]
    assert known.counters.enqueued.tolist() == [1, 4, 1]


def test_a_communicator_that_a_rank_leaves_is_forgotten():
    gone = {"rank": 0, "comms": [{"comm": "ep", "enqueued": 1, "completed": 1}]}
    known = after((0, [report(0, 1)]), (30, [gone]))

    assert known.counters.names == ("ep",)
    assert known.changed.tolist() == [30]


def test_a_report_without_communicators_keeps_what_is_known_of_them():
    known = after((0, [report(0, 1)]), (30, [{"rank": 0, "step": 4}]))

    assert known.counters.enqueued.tolist() == [1]


def test_a_pause_of_training_is_remembered_and_one_for_a_checkpoint_is_not():
    def call(time: float, count: int, phase: str) -> tuple[float, list[dict[str, Any]]]:
        return time, [report(0, count, phase=phase)]

    training = after(call(0, 1, "train"), call(40, 1, "train"), call(80, 2, "train"))
    writing = after(call(0, 1, "checkpoint"), call(40, 1, "checkpoint"), call(80, 2, "train"))

    assert training.pauses == (40,)
    assert writing.pauses == ()


def test_steps_over_time_are_kept_for_the_jobs_pace():
    known = after(*((30.0 * n, [report(0, n, step=10 * n)]) for n in range(5)))

    assert known.pace_time.tolist() == [30, 60, 90, 120]
    assert known.pace_step.tolist() == [10, 20, 30, 40]


def test_what_is_known_survives_being_stored():
    known = after((0, [report(0, 1, step=3), report(5, 1)]), (30, [report(0, 2)]))

    kept = unpack(LiveProgress, pack(known))

    assert kept.counters.names == known.counters.names
    np.testing.assert_array_equal(kept.counters.enqueued, known.counters.enqueued)
    np.testing.assert_array_equal(kept.seen, known.seen)
    assert kept.moves == known.moves


@pytest.mark.parametrize("content", [b"", b"nonsense", pack(after((0, [report(0, 1)])))[:-9]])
def test_bytes_that_are_no_state_are_refused(content: bytes):
    with pytest.raises(UnusableState):
        unpack(LiveProgress, content)
