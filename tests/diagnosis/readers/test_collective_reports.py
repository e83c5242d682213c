"""Statements about collectives are found in logs of every era, with the line they stand in."""

import pytest

from diagnosis.core.collective_reports import CollectiveReports
from diagnosis.core.evidence import Evidence
from diagnosis.readers.collective_reports import read_collective_reports
from tests.diagnosis.recorded_job import evidence

STATUS = "Exception (either an error or timeout) detected by watchdog at work: 100"
COUNTERS = "last enqueued NCCL work: 103, last completed NCCL work: 99."
ERAS = {
    "2.3": "[rank7]:[E ProcessGroupNCCL.cpp:1316] [PG 0 Rank 7] Timeout at NCCL work: 100, "
    f"{COUNTERS}",
    "2.4": f"[rank7]:[E304 02:07:08.408271257 ProcessGroupNCCL.cpp:1664] [PG ID 0 PG GUID "
    f"0(default_pg) Rank 7] {STATUS}, {COUNTERS}",
    "2.7": "[rank7]:[E304 02:07:08.408271257 ProcessGroupNCCL.cpp:2268] [PG ID 0 PG GUID "
    "0(default_pg) Rank 7]  failure detected by watchdog at work sequence id: 100 PG status: "
    "last enqueued work: 103, last completed work: 99",
}

RAS_HEAD = """Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      4          8            1         32       32

Communicators... (0.00s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         4         8        32        32   RUNNING  MISMATCH
    1         4         4         2         8        32   RUNNING  OK

Warnings
========

"""


def read(text: str, name: str = "train.log") -> CollectiveReports:
    return read_collective_reports([evidence(text.encode(), name)])


@pytest.mark.parametrize("era", ERAS)
def test_counters_of_every_era_are_read(era):
    (report,) = read(f"noise\n{ERAS[era]}\n").work
    assert (report.rank, report.group, report.sequence) == (7, "default", 100)
    assert (report.enqueued, report.completed) == (103, 99)
    assert report.line.number == 2


def test_a_completed_counter_beyond_the_enqueued_one_is_garbage():
    line = ERAS["2.7"].replace("last completed work: 99", "last completed work: 104")
    assert read(line).work[0].completed is None


def test_the_ranks_own_prefix_wins_over_the_rank_within_its_group():
    line = (
        "[rank97]:[E304 02:07:08.4 ProcessGroupNCCL.cpp:632] [PG ID 4 PG GUID 31(TP) Rank 6] "
        f"{STATUS}, {COUNTERS}"
    )
    assert read(line).work[0].rank == 97


def test_without_a_global_rank_a_subgroups_rank_names_nobody():
    line = f"[E ProcessGroupNCCL.cpp:632] [PG ID 4 PG GUID 31(TP) Rank 6] {STATUS}, {COUNTERS}"
    assert not read(line).work


def test_the_files_name_tells_the_rank_that_the_line_does_not():
    line = f"[E ProcessGroupNCCL.cpp:632] [PG ID 4 PG GUID 31(TP) Rank 6] {STATUS}, {COUNTERS}"
    assert read(line, "rank-14.log").work[0].rank == 14


def test_ras_counts_are_ordered_and_keep_their_listed_ranks():
    text = RAS_HEAD + (
        "#0-0 (cf264af53edbe986) MISMATCH\n"
        "  Communicator ranks have different AllReduce operation counts\n"
        "  31 ranks have launched up to operation 6650\n"
        "  Rank 21 has launched up to operation 6649 -- GPU 5 managed by process 7 on node n13\n"
    )
    (found,) = read(text).mismatches
    assert [(row.launched, row.number) for row in found.counts] == [(6649, 1), (6650, 31)]
    assert (found.counts[0].ranks[0].rank, found.counts[0].ranks[0].node) == (21, "n13")
    assert (found.operation, found.whole_job) == ("AllReduce", True)


def test_ras_members_on_lines_of_their_own_belong_to_the_count_above():
    text = RAS_HEAD + (
        "#1-2 (aa264af53edbe986) MISMATCH\n"
        "  Communicator ranks have different collective operation counts\n"
        "  6 ranks have launched up to operation 50\n"
        "  2 ranks have not launched any operations\n"
        "  Rank 0 -- GPU 0 managed by process 1 on node n1\n"
        "  Rank 2 -- GPU 2 managed by process 3 on node n1\n"
    )
    (found,) = read(text).mismatches
    assert [member.rank for member in found.counts[0].ranks] == [0, 2]
    assert (found.counts[0].launched, found.whole_job) == (0, False)


def test_processes_that_ras_lost_say_whether_they_are_dead():
    text = (
        "INCOMPLETE\n  Missing communicator data from 1 job process\n"
        "  Process 1 on node n1 managing GPU 5\n\nDEAD\n"
        "  1 job process is considered dead (unreachable via the RAS network)\n"
        "  Process 2 on node n2 managing GPUs 0,1\n"
    )
    assert [(lost.node, lost.gpu, lost.dead) for lost in read(text).lost] == [
        ("n1", "5", False),
        ("n2", "0,1", True),
    ]


@pytest.mark.parametrize(
    ("text", "source", "ranks"),
    [
        (
            "   - [2, 5] finished collective #14, but didn't join collective #15 (count from 1)",
            "desync",
            (2, 5),
        ),
        (
            "ranks [1] are the lagging ranks that caused this timeout. They never joined any",
            "desync",
            (1,),
        ),
        ("missing ranks: {0}\nexpected ranks: {0, 1}", "torchfrtrace", (0,)),
        ("Culprit rank 3; Error type: COLLECTIVE_TYPE_MISMATCH", "torchfrtrace-mismatch", (3,)),
    ],
)
def test_other_programs_statements_are_read(text, source, ranks):
    (found,) = read(text).statements
    assert (found.source, found.ranks) == (source, ranks)


def test_a_log_without_any_of_it_gives_nothing():
    assert not read("step 1 loss 2.0\n" * 1000)


def test_a_log_that_cannot_be_opened_says_nothing():
    def gone():
        raise OSError("gone")

    assert not read_collective_reports([Evidence(name="a.log", open=gone, size=9)])
