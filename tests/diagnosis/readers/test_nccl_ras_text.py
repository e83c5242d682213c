"""Whole NCCL RAS answers in text."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.core.ras import RasProcess, RasStatus
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.nccl_ras_text import read_ras_text

HEAD = """\
NCCL version 2.27.3 compiled with CUDA 12.9
CUDA runtime version 12090, driver version 12090

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      2          4            1          8        8

Communicators... (0.01s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         2         4         8         8   RUNNING  MISMATCH

"""
MISMATCH = """\
Errors
======

Warnings
========

#0-0 (00000000deadbeef) MISMATCH
  Communicator ranks have different AllReduce operation counts
  7 ranks have launched up to operation 120
  Rank 3 has launched up to operation 117 -- GPU 3 managed by process 2003 on node 192.0.2.1
"""
LOST = """\
Errors
======

INCOMPLETE
  Missing communicator data from 1 job process
  Process 2007 on node 192.0.2.2 managing GPU 3

DEAD
  Process 2006 on node 192.0.2.2 managing GPU 2

Warnings
========

"""


def status(text: str) -> RasStatus:
    return read_ras_text(text.encode())


def test_the_outlier_is_told_with_its_place_and_the_others_by_exclusion() -> None:
    (comm,) = status(HEAD + MISMATCH).communicators
    assert [member.launched["AllReduce"] for member in comm.ranks] == [120] * 3 + [117] + [120] * 4
    assert comm.ranks[3].process == RasProcess("192.0.2.1", cuda_device=3)


def test_ranks_that_nothing_tells_apart_stay_untold() -> None:
    three_ways = MISMATCH.replace(
        "  7 ranks", "  2 ranks have launched up to operation 9\n  5 ranks"
    )
    (comm,) = status(HEAD + three_ways).communicators
    assert [member.rank for member in comm.ranks] == [3]
    assert comm.size == 8


def test_lost_processes_are_told_apart_from_dead_ones() -> None:
    lost = status(HEAD + LOST).lost
    assert [(one.process.cuda_device, one.dead) for one in lost] == [(3, False), (2, True)]


def test_equal_counts_tell_of_no_communicator_and_that_is_said() -> None:
    quiet = status(HEAD + "Errors\n======\n\nWarnings\n========\n\n")
    assert (quiet.communicators, quiet.nccl_version) == ((), "2.27.3")
    assert "text" in quiet.notes[0]


@pytest.mark.parametrize("content", [b"", b"ERROR: Unknown command STATUS\n", b"\x00\xff"])
def test_what_is_no_status_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadableEvidence, match="no RAS status"):
        read_ras_text(content)


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(UnreadableEvidence, match="is broken"):
        status(HEAD + MISMATCH.replace("operation 120", "operation " + "9" * 5000))


@given(st.text(max_size=200), st.integers(0, 10**30))
def test_any_text_is_a_status_or_unreadable(text: str, number: int) -> None:
    huge = MISMATCH.replace("7 ranks", f"{number} ranks")
    for content in (text, HEAD + text, HEAD + huge + text):
        with suppress(UnreadableEvidence):
            assert isinstance(status(content), RasStatus)
