"""On what an answer rests, in words."""

import pytest

from incidents.views.coverage import coverage_of


@pytest.mark.parametrize(
    ("coverage", "sentence"),
    [
        (
            {"hosts": {"expected": 128, "reported": 126}},
            "judged on 126 of 128 hosts",
        ),
        (
            {"hosts_expected": 3, "hosts_with_logs": 2, "hosts_without_logs": ["node-004"]},
            "judged on 2 of 3 hosts; node-004 sent nothing",
        ),
        (
            {
                "hosts": {"expected": 3, "reported": 2},
                "hosts_without_dumps": ["node-004"],
                "hosts_expected": 3,
                "hosts_with_logs": 1,
                "hosts_without_logs": ["node-002", "node-004"],
            },
            "judged on 2 of 3 hosts; node-004 sent nothing",
        ),
        (
            {"hosts_with_logs": 1},
            "judged on 1 host; how many the job has is not registered",
        ),
        ({"logs": 0}, ""),
        ({}, ""),
    ],
)
def test_hosts_that_spoke_and_those_that_did_not(coverage, sentence: str):
    assert coverage_of(coverage).hosts == sentence


def test_many_silent_hosts_are_counted():
    silent = [f"node-{number:03}" for number in range(12)]
    coverage = {"hosts_expected": 20, "hosts_with_logs": 8, "hosts_without_logs": silent}
    assert "node-007 and 4 more sent nothing" in coverage_of(coverage).hosts


def test_ranks_logs_and_limits_stand_beside():
    told = coverage_of({"ranks": {"expected": 8, "reported": 7}, "logs": 1, "notes": ["no WR"]})
    assert (list(told.told), list(told.notes)) == (["7 of 8 ranks", "1 log"], ["no WR"])


def test_ranks_are_counted_with_what_told_of_them():
    """Logs may tell of more ranks than left a dump."""
    told = coverage_of(
        {"logs": 40, "ranks": {"expected": 32, "reported": 31}, "kinds": ["flight-recorder"]}
    )
    assert list(told.told) == ["40 logs", "31 of 32 ranks from flight recorder"]
