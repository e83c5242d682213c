import pytest

from diagnosis.simulator.layout import Axis, Layout, Place, default_layout

LAYOUTS = [Layout(4, 2, 4), Layout(8, 4, 2), Layout(1, 1, 8), Layout(2, 1, 3), Layout(1, 3, 2)]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_place_and_rank_are_inverse(layout):
    assert [layout.rank(layout.place(rank)) for rank in range(layout.world)] == list(
        range(layout.world)
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_rank_belongs_to_at_most_one_group_of_an_axis(layout):
    seen = [
        (group.axis, rank)
        for group in layout.communicators
        for rank in group.ranks
        if group.axis is not Axis.EMBEDDING
    ]
    assert len(seen) == len(set(seen))


def test_tensor_neighbours_are_adjacent_ranks_and_pipeline_neighbours_are_far():
    layout = Layout(tp=4, pp=2, dp=2)
    assert layout.communicator(Axis.TENSOR, 5).ranks == (4, 5, 6, 7)
    assert layout.communicator(Axis.PIPELINE, 5).ranks == (5, 13)
    assert layout.communicator(Axis.DATA, 5).ranks == (1, 5)


def test_the_same_kind_of_group_has_another_id_on_a_middle_stage():
    layout = Layout(tp=2, pp=3, dp=2)
    outer, middle = layout.rank(Place(0, 0, 0)), layout.rank(Place(1, 0, 0))
    ids = [layout.pg_id(rank, layout.communicator(Axis.STAGE, rank)) for rank in (outer, middle)]
    assert ids[0] == ids[1] + 1


def test_a_layout_that_does_not_divide_the_ranks_is_refused():
    with pytest.raises(ValueError, match="cannot be split"):
        default_layout(24, 8, tp=5)


@pytest.mark.parametrize("world", [1, 2, 4, 8, 24, 64, 1024])
def test_the_default_layout_uses_every_rank(world):
    assert default_layout(world, min(world, 8)).world == world
