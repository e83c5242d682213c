"""How late every rank is: measured where a straggler was found, in ms a collective."""

from dataclasses import replace
from typing import Any

import pytest

from diagnosis.collectives.picture import progress_picture
from diagnosis.collectives.procedure import localise
from diagnosis.core.collectives import CollectiveProgress
from diagnosis.core.diagnosis import Conclusion
from tests.diagnosis.collectives.judging import forms
from tests.diagnosis.recorded_job import NCCL, data_parallel, dumps, placed, run, steps


def slow(world: int = 8, *, late: int = 6, own_ms: float = 190.0):
    """All calls of one rank begin that long after the one before, the others' after 10 ms."""
    programs = steps(world, 6)
    programs[late] = [replace(call, own_ms=own_ms) for call in programs[late]]
    return run(data_parallel(world), programs)


def pictured(found: Conclusion, progress: CollectiveProgress) -> dict[str, Any]:
    lateness: Any = progress_picture(progress, found.suspects)["lateness"]
    return dict(lateness)


@forms
def test_the_straggler_keeps_the_others_waiting_longest(form):
    _, progress = localise(dumps(slow(), form), placement=placed(8))
    assert max(progress.late_ms, key=progress.late_ms.__getitem__) == 6


def test_it_is_told_in_milliseconds_a_collective():
    _, progress = localise(dumps(slow(), NCCL), placement=placed(8))
    assert progress.late_ms[6] == pytest.approx(180.0, rel=0.02)
    assert progress.late_ms[0] == pytest.approx(0.0, abs=1.0)


def test_where_nobody_is_late_nothing_is_measured():
    _, progress = localise(dumps(run(data_parallel(8), steps(8, 6)), NCCL), placement=placed(8))
    assert progress.late_ms == {}


def test_the_picture_has_the_latest_first_with_its_role():
    found, progress = localise(dumps(slow(), NCCL), placement=placed(8))
    shown = pictured(found, progress)
    assert (shown["ranks"][0], shown["blamed"][0], len(shown["ranks"])) == (6, "culprit", 8)


def test_folded_by_host_a_host_is_as_late_as_its_latest_rank():
    found, progress = localise(dumps(slow(264, late=70), NCCL), placement=placed(264, 8))
    shown = pictured(found, progress)
    assert (shown["hosts"][0], len(shown["hosts"])) == (progress.hosts[70], 33)
    assert shown["late_ms"][0] == pytest.approx(180.0, rel=0.02)
