"""A group's test from the outputs of its hosts."""

import pytest

from diagnosis.checks.group_test import group_results
from diagnosis.checks.output import Ending, Output
from diagnosis.checks.suite import shipped

PAIR = shipped("cpu").item("pair-network")


def said(value: float) -> Output:
    return Output(f"reading pair_gbps {value}\ndone\n")


def passed(*groups: list[Output], earlier: list[float] | None = None) -> list[bool | None]:
    return [one.passed for one in group_results(PAIR, groups, earlier or [])]


def test_the_group_that_is_slower_than_the_others_failed():
    good = [[said(20), said(19)] for _ in range(4)]
    assert passed(*good, [said(20), said(3)]) == [True, True, True, True, False]


def test_a_group_by_itself_is_judged_by_those_that_passed_before():
    assert passed([said(3)], earlier=[20.0] * 8) == [False]


def test_too_few_readings_to_compare_with_leave_running_to_the_end():
    assert passed([said(3)], [said(20)]) == [True, True]


@pytest.mark.parametrize(
    ("output", "result"),
    [
        (Output(ending=Ending.TIMED_OUT, exit_code=None), False),
        (Output("ncclSystemError\n", exit_code=1), False),
        (Output("", exit_code=127), None),
        (Output("garbage\n"), None),
        (Output("reading pair_gbps 20\n"), None),
        (Output(ending=Ending.MISSING, exit_code=None), None),
        (Output(ending=Ending.LOST, exit_code=None), None),
    ],
)
def test_a_test_without_a_value_failed_or_gave_no_answer_and_never_passed(output, result):
    assert passed([said(20), output]) == [result]


def test_a_lost_runner_leaves_its_partners_time_out_unexplained():
    lost, late = Output(ending=Ending.LOST), Output(ending=Ending.TIMED_OUT, exit_code=None)
    assert passed([lost, late]) == [None]
