"""Verdicts from counters alone, whatever source they come from."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diagnosis.collectives.counters_verdict import Told, localise_sheet, localise_summaries
from diagnosis.core.collectives import Communicator, counters_only
from diagnosis.core.counters import CounterRow, CounterSheet, Outstanding
from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.words import Action, Role, TargetKind, VerdictClass
from diagnosis.simulator.layout import Layout
from tests.diagnosis.collectives.judging import blamed
from tests.diagnosis.recorded_job import placed


def row(rank: int, time: float = 100.0, **told: Any) -> CounterRow:
    given: dict[str, Any] = {"launched": 41, "size": 8, **told}
    return CounterRow("dp", rank, "test", "counters.jsonl", rank + 1, global_rank=rank,
                      time=time, **given)  # fmt: skip


def twice(rows: list[CounterRow], apart: float = 60.0) -> CounterSheet:
    """The same counters in two samples: the job stands still."""
    later = [replace(r, time=(r.time or 0) + apart) for r in rows]
    return CounterSheet(tuple(rows + later))


def judged(sheet: CounterSheet, **known: object) -> Conclusion:
    found, _ = localise_sheet(sheet, placement=placed(8), **known)  # type: ignore[arg-type]
    return found


def behind(rank: int) -> list[CounterRow]:
    return [row(r, launched=40 if r == rank else 41, completed=40) for r in range(8)]


def test_a_rank_with_fewer_launches_in_two_samples_is_the_culprit():
    found = judged(twice(behind(3)))
    assert blamed(found) == [3]
    assert found.suspects[0].target.host == "node-001"


def test_in_one_sample_it_is_possible_and_nobody_is_isolated():
    found = judged(CounterSheet(tuple(behind(3))))
    assert blamed(found, Role.POSSIBLE) == [3]
    assert Action.ISOLATE_HOST not in {r.action for r in found.recommendations}


def test_a_time_out_stands_for_the_second_sample():
    assert blamed(judged(CounterSheet(tuple(behind(3))), timed_out=True)) == [3]


def test_counters_that_moved_between_two_samples_name_nobody():
    later = [replace(r, time=160.0, launched=50, completed=49) for r in behind(3)]
    found = judged(CounterSheet(tuple(behind(3) + later)))
    assert not blamed(found)
    assert not blamed(found, Role.POSSIBLE)


def test_a_rank_that_nobody_speaks_for_is_possible_only():
    rows = [r for r in behind(3) if r.rank != 3] + [row(3, launched=-1)]
    found = judged(twice(rows))
    assert blamed(found) == []
    assert blamed(found, Role.POSSIBLE) == [3]


def test_completed_calls_alone_name_nobody():
    rows = [row(r, launched=-1, completed=40 - (r == 3)) for r in range(8)]
    found = judged(twice(rows))
    assert found.verdict.cls is VerdictClass.UNKNOWN
    assert not found.suspects


def stuck(rank: int, peer: int, posted: float = 40.0, wc: int = 880) -> CounterRow:
    return row(rank, completed=40, wr=900, wc=wc, oldest=Outstanding(peer, posted))


def waiting(rank: int) -> CounterRow:
    """A victim: its requests are outstanding too, but later."""
    return stuck(rank, (rank + 1) % 8, posted=55.0, wc=890)


def test_one_pair_of_stuck_requests_is_the_link_between_the_two():
    rows = [stuck(1, 5), stuck(5, 1, 40.2), *(waiting(r) for r in (0, 2, 3, 4, 6, 7))]
    found = judged(twice(rows))
    target = found.suspects[0].target
    assert (target.kind, target.name, target.peer) == (TargetKind.LINK, "node-001", "node-002")
    assert [r.action for r in found.recommendations] == [Action.CHECK_LINK]


def test_a_rank_common_to_many_pairs_is_its_nic_or_host():
    rows = [stuck(0, 6), stuck(1, 6, 40.1), stuck(3, 6, 40.3), *(waiting(r) for r in (2, 4, 5, 7))]
    found = judged(twice([*rows, row(6, completed=40, wr=900, wc=900)]))
    assert blamed(found) == [6]
    assert Action.CHECK_LINK in {r.action for r in found.recommendations}


def test_a_process_that_is_known_to_be_gone_is_ruled_out_first():
    rows = [stuck(1, 5), *(waiting(r) for r in (0, 2, 3, 4, 6, 7)), row(5, completed=40)]
    found = judged(twice(rows), ended_ranks={5: "exit code -9"})
    assert blamed(found) == [5]
    assert found.recommendations[0].action is Action.ISOLATE_HOST


def test_a_rank_that_did_not_launch_outranks_outstanding_requests():
    rows = [waiting(r) for r in range(8)]
    rows[3] = row(3, launched=40, completed=40, wr=900, wc=900)
    assert blamed(judged(twice(rows))) == [3]


def test_coverage_says_whether_any_source_counts_work_requests():
    without = str(judged(twice(behind(3))).verdict.coverage["notes"])
    with_them = str(judged(twice([stuck(1, 5)])).verdict.coverage["notes"])
    assert "WR/WC" in without
    assert "WR/WC" not in with_them


def communicators(layout: Layout, bad: int, *, stopped: bool = False) -> list[Communicator]:
    found = []
    for group in layout.communicators:
        if group.axis == "pipeline":
            continue
        ranks = np.asarray(group.ranks)
        enqueued, completed = np.full(len(ranks), 100), np.full(len(ranks), 99)
        if stopped:
            completed[ranks == bad] = 90
        else:
            enqueued[ranks == bad] = 99
        found.append(counters_only(group.name, "", ranks, enqueued=enqueued, completed=completed))
    return found


@pytest.mark.parametrize("bad", [0, 77, 255])
def test_one_rank_behind_in_a_3d_parallel_job_is_found_from_arrays(bad):
    found, progress = localise_summaries(
        communicators(Layout(8, 4, 8), bad), placement=placed(256), told=Told(still=True)
    )
    assert blamed(found) == [bad]
    assert len(progress.waiting) == 255


def test_a_rank_that_completed_far_less_has_a_stopped_gpu():
    found, _ = localise_summaries(
        communicators(Layout(8, 4, 8), 77, stopped=True), told=Told(still=True)
    )
    assert blamed(found) == [77]
    assert found.suspects[0].fault == "collective-gpu-stopped"


def test_of_a_circle_the_minority_is_possible_and_its_code_is_meant():
    world = [
        counters_only("a", "", range(4), enqueued=(5, 5, 5, 4), completed=(4, 4, 4, 4)),
        counters_only("b", "", range(4), enqueued=(4, 4, 4, 5), completed=(4, 4, 4, 4)),
        counters_only("c", "", (0, 4), enqueued=(4, 5), completed=(4, 4)),
    ]
    found, _ = localise_summaries(world, placement=placed(8), told=Told(still=True))
    assert blamed(found, Role.POSSIBLE) == [3]
    assert found.verdict.cls is VerdictClass.USER
    assert Action.ISOLATE_HOST not in {r.action for r in found.recommendations}


def test_a_circle_of_two_names_nobody():
    pairs = [
        counters_only("a", "", (0, 1), enqueued=(5, 4), completed=(4, 4)),
        counters_only("b", "", (0, 1), enqueued=(4, 5), completed=(4, 4)),
    ]
    found, _ = localise_summaries(pairs, told=Told(still=True))
    assert found.verdict.cls is VerdictClass.UNKNOWN
    assert "circle" in found.verdict.summary


def test_no_communicators_are_no_error():
    found, progress = localise_summaries([])
    assert not progress.world
    assert not found.suspects
