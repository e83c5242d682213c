"""Verdicts from counters in logs alone: who is behind is named, who only speaks is not."""

import pytest

from diagnosis.collectives.reports import localise_counters
from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.words import Action, Role, VerdictClass
from diagnosis.readers.collective_reports import read_collective_reports
from tests.diagnosis.readers.test_collective_reports import RAS_HEAD
from tests.diagnosis.recorded_job import evidence, placed

GROUP = "[PG ID 0 PG GUID 0(default_pg) Rank {rank}]"
STAMP = "[rank{rank}]:[E304 02:07:08.408271257 ProcessGroupNCCL.cpp:2268] "


def waits(rank: int, seq: int, enqueued: int, completed: int) -> str:
    head = (STAMP + GROUP).format(rank=rank)
    return (
        f"{head}  failure detected by watchdog at work sequence id: {seq} PG status: last "
        f"enqueued work: {enqueued}, last completed work: {completed}"
    )


def passes_on(rank: int, enqueued: int, completed: int) -> str:
    head = (STAMP + GROUP).format(rank=rank)
    return (
        f"{head} Received a dump signal due to a collective timeout from  rank 0 and we will try "
        f"our best to dump the debug info. Last enqueued NCCL work: {enqueued}, last completed "
        f"NCCL work: {completed}."
    )


def answer(*lines: str) -> Conclusion | None:
    reports = read_collective_reports([evidence("\n".join(lines).encode(), "train.log")])
    return localise_counters(reports, placement=placed(32))


def judged(*lines: str) -> Conclusion:
    found = answer(*lines)
    assert found is not None
    return found


def blamed(found: Conclusion, role: Role = Role.CULPRIT) -> list[int | None]:
    return [suspect.target.rank for suspect in found.suspects if suspect.role is role]


def test_a_rank_that_launched_less_than_the_others_wait_for_did_not_arrive():
    lines = [waits(rank, 100, 103, 99) for rank in range(8) if rank != 3]
    found = judged(*lines, passes_on(3, 99, 99))
    assert blamed(found) == [3]
    assert found.suspects[0].target.host == "node-001"


def test_a_rank_that_completed_far_less_than_its_peers_stopped():
    lines = [waits(rank, 113, 120, 112) for rank in range(8) if rank != 5]
    assert blamed(judged(*lines, waits(5, 100, 120, 99))) == [5]


def test_works_too_far_apart_for_one_communicator_say_nothing_of_each_other():
    lines = [waits(rank, 9000, 9010, 8999) for rank in range(8) if rank != 5]
    assert answer(*lines, waits(5, 100, 9010, 99)) is None


def test_two_watchdogs_make_nobody_a_culprit():
    found = judged(waits(1, 100, 103, 99), waits(2, 100, 103, 99), passes_on(3, 99, 99))
    assert (blamed(found), blamed(found, Role.POSSIBLE)) == ([], [3])
    assert Action.ISOLATE_HOST not in {item.action for item in found.recommendations}


def test_a_rank_on_no_known_host_is_looked_at_and_not_isolated():
    lines = [waits(rank, 100, 103, 99) for rank in range(8) if rank != 3]
    text = "\n".join([*lines, passes_on(3, 99, 99)]).encode()
    found = localise_counters(read_collective_reports([evidence(text, "train.log")]))
    assert found is not None
    assert blamed(found) == [3]
    actions = [item.action for item in found.recommendations]
    assert actions == [Action.WATCH, Action.RESTART_JOB]


def test_works_in_three_places_are_of_several_communicators():
    lines = [waits(rank, 100 + 4 * (rank // 2), 130, 99 + 4 * (rank // 2)) for rank in range(6)]
    assert answer(*lines) is None


def test_ranks_that_all_wait_alike_name_nobody():
    assert answer(*(waits(rank, 100, 103, 99) for rank in range(5))) is None


@pytest.mark.parametrize("completed", [-1, 3452013982])
def test_a_counter_that_means_nothing_names_nobody(completed):
    assert answer(*(waits(rank, 1, 3, completed) for rank in range(4))) is None


def test_a_lone_waiter_names_nobody():
    assert answer(waits(118, 2398459, 2398578, 2398458)) is None


def ras(*rows: str) -> str:
    head = "#0-0 (cf264af53edbe986) MISMATCH\n  Communicator ranks have different AllReduce "
    return RAS_HEAD + head + "operation counts\n" + "\n".join(f"  {row}" for row in rows)


LAGGARD = "Rank 21 has launched up to operation 6649 -- GPU 5 managed by process 7 on node n13"


def test_a_minority_that_launched_fewer_is_possible_after_one_sample():
    found = judged(ras("31 ranks have launched up to operation 6650", LAGGARD))
    assert blamed(found, Role.POSSIBLE) == [21]
    assert {r.action for r in found.recommendations} == {Action.WATCH}


def test_a_minority_that_launched_more_leads_and_is_not_to_blame():
    found = judged(ras("30 ranks have launched up to operation 6648", LAGGARD))
    assert found.verdict.cls is VerdictClass.UNKNOWN
    assert not found.suspects


def test_ras_and_the_flight_recorder_analyzer_together_make_a_culprit():
    lines = ras("31 ranks have launched up to operation 6650", LAGGARD)
    assert blamed(judged(lines, "missing ranks: {21}")) == [21]


def test_a_process_that_ras_considers_dead_is_the_cause_on_its_node():
    found = judged("DEAD", "  Process 9 on node n7 managing GPU 5")
    assert (found.suspects[0].role, found.suspects[0].target.host) == (Role.CULPRIT, "n7")


def test_a_process_that_only_did_not_answer_is_possible():
    found = judged("INCOMPLETE", "  Process 9 on node n7 managing GPU 5")
    assert found.suspects[0].role is Role.POSSIBLE


def test_the_ranks_of_a_desync_report_that_did_not_join_are_named():
    found = judged(
        "  - [0, 1] joined but didn't finish collective #15 (count from 1)",
        "    [2] finished collective #14, but didn't join collective #15 (count from 1)",
    )
    assert blamed(found) == [2]


def test_an_analyzer_that_misses_the_majority_is_not_believed():
    assert answer("missing ranks: {1, 2, 3}", "expected ranks: {0, 1, 2, 3}") is None


def test_every_finding_leads_to_its_line():
    found = judged("noise", "missing ranks: {2}")
    finding = found.suspects[0].findings[0]
    assert (finding.evidence, finding.locator) == ("train.log", {"line": 2})
