"""Which decisions bear an answer out, and how sure a precision is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.figures.judging import Judged, Precision, top, true_place


@pytest.mark.parametrize(
    ("kind", "outcome", "right"),
    [
        ("accept", "pending", True),
        ("accept", "recovered", True),
        ("accept", "not-recovered", False),
        ("accept", "part-good", False),
        ("reject", "pending", False),
        ("reject", "part-bad", True),
        ("change", "pending", True),
    ],
)
def test_repair_has_the_last_word_then_the_job_then_people(kind, outcome, right) -> None:
    assert Judged(kind, outcome, place=1).right is right


def test_a_decision_that_blames_another_host_makes_the_suspect_wrong() -> None:
    assert not Judged("change", "pending", place=1, elsewhere=3).right


def test_the_true_place_is_that_of_the_first_suspect_who_was_right() -> None:
    judged = [Judged("reject", "pending", 1), Judged("accept", "pending", 2)]

    assert true_place(judged) == 2


def test_the_true_place_is_where_a_person_put_the_blame_instead() -> None:
    assert true_place([Judged("change", "pending", 1, elsewhere=3)]) == 3


def test_a_cause_that_was_on_no_list_is_at_no_place() -> None:
    assert true_place([Judged("reject", "pending", 1)]) == 0


def test_without_decisions_no_place_is_known() -> None:
    assert true_place([]) is None


def test_top_k_counts_a_cause_that_was_no_suspect_as_missed() -> None:
    places = np.array([1.0, 1.0, 3.0, 0.0])

    assert (top(places, 1), top(places, 3)) == (0.5, 0.75)


def test_the_lower_end_of_the_precision_is_wilsons() -> None:
    # Wilson's interval for 41 of 44, as R's prop.test(41, 44, correct = FALSE) gives it.
    assert Precision(41, 44).at_least == pytest.approx(0.8178, abs=1e-3)


@given(st.integers(0, 500), st.integers(0, 500))
def test_the_lower_end_is_never_above_the_share(right: int, wrong: int) -> None:
    precision = Precision(right, right + wrong)
    at_least, share = precision.at_least, precision.share

    if at_least is not None and share is not None:
        assert 0 <= at_least <= share + 1e-12
