"""The rendezvous: what may and may not happen when ranks wait for each other."""

from collections import defaultdict

import numpy as np
import pytest

from diagnosis.simulator.layout import Layout
from diagnosis.simulator.schedule import programs
from diagnosis.simulator.timeline import Disturbances, Timeline, walk

LAYOUT = Layout(tp=4, pp=2, dp=2)
STEPS = {"steps": 3, "checkpoint_every": 2}
Times = tuple[list[float], list[float]]
DISTURBED = [
    Disturbances(),
    Disturbances(host_stops={5: 40}),
    Disturbances(gpu_stops={9: 33}),
    Disturbances(network_stops={2: 50}),
    Disturbances(slow={3: (20, 2.0)}),
    Disturbances(host_stops={0: 0}),
]


def walked(disturbances: Disturbances, *, run_ahead: int = 6, layout: Layout = LAYOUT) -> Timeline:
    by_stage = programs(layout, **STEPS)
    return walk(
        layout,
        [by_stage[layout.place(rank).stage] for rank in range(layout.world)],
        disturbances,
        spans_hosts=[len(group.ranks) > layout.tp for group in layout.communicators],
        run_ahead=run_ahead,
        rng=np.random.default_rng(5),
    )


def meetings(timeline: Timeline, layout: Layout = LAYOUT) -> dict[tuple[int, int], Times]:
    """Each collective with the times at which its members arrived and completed."""
    found: dict[tuple[int, int], Times] = defaultdict(lambda: ([], []))
    for rank in range(layout.world):
        program = timeline.programs[rank]
        for index, arrival in enumerate(timeline.arrived[rank]):
            call = program.calls[index]
            if call.peer:
                continue
            group = layout.by_axis[call.axis][rank]
            arrived, completed = found[group, program.sequence(index)]
            arrived.append(arrival)
            if index < len(timeline.completed[rank]):
                completed.append(timeline.completed[rank][index])
    return found


@pytest.mark.parametrize("disturbances", DISTURBED)
def test_a_collective_completes_only_when_all_members_have_arrived(disturbances):
    timeline = walked(disturbances)
    for (group, _), (arrived, completed) in meetings(timeline).items():
        if completed:
            assert len(arrived) == len(LAYOUT.communicators[group].ranks)
            assert min(completed) >= max(arrived)


@pytest.mark.parametrize("disturbances", DISTURBED)
def test_a_collective_completes_on_all_members_together_or_on_none(disturbances):
    for (group, _), (_, completed) in meetings(walked(disturbances)).items():
        assert len(completed) in {0, len(LAYOUT.communicators[group].ranks)}
        assert len(set(completed)) <= 1


@pytest.mark.parametrize("disturbances", DISTURBED)
def test_a_call_is_enqueued_before_it_arrives_and_arrives_before_it_completes(disturbances):
    timeline = walked(disturbances)
    for rank in range(LAYOUT.world):
        steps = zip(
            timeline.enqueued[rank], timeline.arrived[rank], timeline.completed[rank], strict=False
        )
        assert all(enqueued <= arrived < completed for enqueued, arrived, completed in steps)


@pytest.mark.parametrize("disturbances", DISTURBED)
@pytest.mark.parametrize("run_ahead", [1, 3, 8])
def test_no_host_runs_further_ahead_than_it_may(disturbances, run_ahead):
    timeline = walked(disturbances, run_ahead=run_ahead)
    for enqueued, completed in zip(timeline.enqueued, timeline.completed, strict=True):
        assert len(enqueued) - len(completed) <= run_ahead


def test_without_a_fault_every_rank_finishes():
    timeline = walked(Disturbances())
    assert all(timeline.finished(rank) for rank in range(LAYOUT.world))


def test_one_stopped_rank_keeps_every_other_rank_from_finishing():
    timeline = walked(Disturbances(host_stops={5: 40}))
    assert not any(timeline.finished(rank) for rank in range(LAYOUT.world))


def test_a_stopped_host_enqueues_nothing_from_that_call_on():
    timeline = walked(Disturbances(host_stops={5: 40}))
    assert len(timeline.enqueued[5]) == 40


def test_a_stopped_gpu_completes_nothing_more_while_its_host_runs_ahead():
    timeline = walked(Disturbances(gpu_stops={9: 33}))
    assert len(timeline.completed[9]) == 33
    assert len(timeline.enqueued[9]) > 34


def test_a_cut_network_leaves_the_operation_open_although_all_have_arrived():
    timeline = walked(Disturbances(network_stops={2: 50}))
    index = len(timeline.completed[2])
    call = timeline.programs[2].calls[index]
    group = LAYOUT.by_axis[call.axis][2]
    key = group, timeline.programs[2].sequence(index)
    arrived, completed = meetings(timeline)[key]
    assert len(arrived) == len(LAYOUT.communicators[group].ranks)
    assert not completed


def test_a_slow_rank_delays_everyone_and_waits_least():
    usual, slowed = walked(Disturbances()), walked(Disturbances(slow={3: (20, 2.0)}))
    assert slowed.completed[0][-1] > usual.completed[0][-1] * 1.2

    def waited(rank):
        pairs = zip(slowed.arrived[rank], slowed.completed[rank], strict=True)
        return sum(completed - arrived for arrived, completed in pairs)

    assert min(range(4), key=waited) == 3
