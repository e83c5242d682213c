"""NCCL RAS and steps beside the counters of a job that stands still."""

from dataclasses import replace
from typing import Any

import numpy as np

from diagnosis.collectives.counters import asked_progress
from diagnosis.collectives.second_views import GIVEN_UP, RAS, STEPS, AskedProgress, second_views
from diagnosis.collectives.standstill_verdict import localise_standstill
from diagnosis.core.collectives import CollectiveProgress, counters_only
from diagnosis.core.diagnosis import Conclusion, Diagnosis
from diagnosis.core.words import IncidentKind, Role
from diagnosis.fusion import fuse
from tests.diagnosis.collectives.test_standstill import (
    ALL_INSIDE,
    ONE_MISSING,
    PLACEMENT,
    Counts,
    reports,
    standing,
)


def launched(*counts: int, ended: dict[int, str] | None = None) -> AskedProgress:
    """RAS's answer: launches of the eight ranks, -1 where one did not answer."""
    told = np.array(counts)
    one = replace(counters_only("0xaa", "", np.arange(8), enqueued=told), reported=told >= 0)
    asked = CollectiveProgress(
        (one,), world=tuple(range(8)), reported=frozenset(np.flatnonzero(told >= 0).tolist())
    )
    return AskedProgress(asked_progress(asked), ended or {})


def views(told: list[dict[str, Any]], asked: AskedProgress | None = None) -> list[Conclusion]:
    return second_views(standing(told), asked, PLACEMENT)


def fused(counts: Counts, asked: AskedProgress | None = None, **more: Any) -> Diagnosis:
    still = standing(reports(counts, **more))
    own = localise_standstill(still, PLACEMENT, asked.ended if asked else {})
    both = [own, *second_views(still, asked, PLACEMENT)]
    return fuse(both, skipped=(), taxonomy_version="t")


def stepped(counts: Counts, steps: dict[int, int]) -> list[dict[str, Any]]:
    found = reports(counts)
    for report in found:
        report["step"] = steps.get(report["rank"], 10)
    return found


def test_ras_that_sees_the_same_rank_behind_makes_it_surer():
    alone, both = fused(ONE_MISSING), fused(ONE_MISSING, launched(9, 9, 9, 9, 9, 8, 9, 9))

    assert both.suspects[0].target.rank == alone.suspects[0].target.rank == 5
    assert both.suspects[0].score > alone.suspects[0].score
    assert f"collectives and {RAS} agree on node-002" in both.trace


def test_where_everyone_is_inside_ras_names_who_launched_less_as_possible():
    first = fused(ALL_INSIDE, launched(9, 9, 9, 9, 9, 9, 8, 9)).suspects[0]

    assert (first.target.rank, first.role) == (6, Role.POSSIBLE)


def test_a_process_that_ras_gave_up_is_a_culprit_that_crashed():
    asked = launched(9, 9, 9, -1, 9, 9, 9, 9, ended={3: GIVEN_UP})
    (view,) = views(reports(ALL_INSIDE), asked)

    assert [(s.target.rank, s.role) for s in view.suspects[:1]] == [(3, Role.CULPRIT)]
    assert view.verdict.kind is IncidentKind.CRASH


def test_many_ranks_behind_in_launches_say_nothing_of_any():
    assert views(reports(ALL_INSIDE), launched(9, 8, 9, 8, 9, 8, 9, 8)) == []


def test_ras_that_counts_everyone_alike_adds_nothing():
    assert views(reports(ONE_MISSING), launched(*[9] * 8)) == []


def test_the_one_log_that_is_a_step_behind_is_possible():
    (view,) = views(stepped(ALL_INSIDE, {2: 9}))

    assert view.branch == STEPS
    assert [(s.target.rank, s.role) for s in view.suspects] == [(2, Role.POSSIBLE)]
    assert view.suspects[0].findings[0].text == "rank 2 last told step 9, most others step 10"


def test_logs_of_half_the_ranks_a_step_behind_say_nothing():
    assert views(stepped(ALL_INSIDE, dict.fromkeys(range(4), 9))) == []
