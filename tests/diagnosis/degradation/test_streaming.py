"""A job under watch: the state learns, is stored, and takes in samples as they come."""

import numpy as np
import pytest

from diagnosis.core.metrics import MetricWindow
from diagnosis.core.packing import pack, unpack
from diagnosis.core.placement import Placement
from diagnosis.degradation.answers import Answer, Judgement
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.streaming import (
    Stream,
    StreamSettings,
    advance,
    begin,
    forget_recovered,
    lasting,
)
from diagnosis.simulator.fleet_paper import PaperTruth, paper_case

CATALOGUE = Catalogue.default()


def begun(window: MetricWindow, placement: Placement) -> tuple[Stream | None, Judgement]:
    return begin(window, placement=placement, catalogue=CATALOGUE, settings=StreamSettings())


@pytest.fixture(scope="module")
def case() -> tuple[MetricWindow, PaperTruth, Placement]:
    return paper_case(4, hosts=12, samples=280, onset=120, recovery=180)


def test_a_short_past_is_still_being_learned(case):
    window, _, placement = case

    stream, judgement = begun(window.between(window.time[0], window.time[0] + 300), placement)

    assert stream is None
    assert judgement.answer is Answer.CANNOT_TELL
    assert "learning" in judgement.reason


def test_a_stored_state_goes_on_where_it_was(case):
    window, truth, placement = case
    first = window.between(window.time[0], truth.onset - 300)
    kept, _ = begun(first, placement)
    assert kept is not None
    copy = unpack(Stream, pack(kept))

    for start in np.arange(truth.onset - 300, truth.onset + 300, 60):
        part = window.between(float(np.nextafter(start, np.inf)), start + 60)
        straight, through = advance(kept, part), advance(copy, part)
        copy = unpack(Stream, pack(copy))

    assert [s.host for s in lasting(straight)] == [truth.host]
    assert through.suspects == straight.suspects


def test_a_gap_of_ten_minutes_is_taken_in_at_once(case):
    window, truth, placement = case
    stream, _ = begun(window.between(window.time[0], truth.onset - 60), placement)
    assert stream is not None

    judgement = advance(stream, window.between(truth.onset - 60, truth.onset + 540))

    (suspect,) = lasting(judgement)
    assert suspect.host == truth.host
    assert abs(suspect.onset - truth.onset) <= 120


def test_what_passed_within_a_gap_is_not_named_afterwards(case):
    window, truth, placement = case
    stream, _ = begun(window.between(window.time[0], truth.onset - 60), placement)
    assert stream is not None

    judgement = advance(stream, window)
    forget_recovered(stream)

    assert lasting(judgement) == ()
    assert stream.watch.alarms == {}


def test_hosts_and_metrics_may_come_in_another_order_or_not_at_all(case):
    window, truth, placement = case
    stream, _ = begun(window.between(window.time[0], truth.onset - 60), placement)
    assert stream is not None
    part = window.between(truth.onset - 60, truth.onset + 540)
    turned = MetricWindow(
        part.values[::-1, ::-1][:, 1:], part.metrics[::-1], part.hosts[::-1][1:], part.time
    )

    judgement = advance(stream, turned)

    assert [s.host for s in lasting(judgement)] == [truth.host]
