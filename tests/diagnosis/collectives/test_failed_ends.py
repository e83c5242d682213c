"""On gloo an operation counts as over when it failed, too: whose peer died is no culprit."""

from dataclasses import replace

from diagnosis.collectives.procedure import localise
from diagnosis.core.collectives import RankDump
from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.words import Action, Role, VerdictClass
from tests.diagnosis.collectives.judging import blamed
from tests.diagnosis.recorded_job import (
    GLOO,
    Call,
    data_parallel,
    dumps,
    placed,
    run,
    steps,
    tensor_and_data_parallel,
    tp_dp_steps,
)

NAMED_GLOO = replace(GLOO, groups_known=True)


def retired_at_the_end(dump: RankDump) -> RankDump:
    retired = dump.entries.retired.copy()
    retired[-1] = True
    return replace(dump, entries=replace(dump.entries, retired=retired))


def after_a_death(rank: int, neighbour: int) -> Conclusion:
    """The rank died before a call of its pair; its neighbour's own call ended in an error."""
    programs = tp_dp_steps(8, 5)
    programs[rank] = programs[rank][:10]
    left = dumps(run(tensor_and_data_parallel(8), programs), GLOO, without=[rank])
    seen = [retired_at_the_end(dump) if dump.rank == neighbour else dump for dump in left]
    found, _ = localise(seen, placement=placed(8))
    return found


def test_the_dead_rank_leads_and_not_the_one_whose_call_its_death_ended():
    found = after_a_death(2, neighbour=3)
    assert blamed(found, Role.POSSIBLE) == [2]
    assert not blamed(found)


def test_nobody_is_isolated_on_a_call_that_may_have_failed():
    found = after_a_death(5, neighbour=4)
    assert Action.ISOLATE_HOST not in {item.action for item in found.recommendations}


def test_a_call_that_others_went_beyond_did_not_fail():
    """Rank 3 hangs; rank 6 left no dump: what rank 3 ended with, the others completed."""
    programs = steps(8, 4)
    programs[3] = programs[3][:7]
    left = dumps(run(data_parallel(8), programs), GLOO, without=[6])
    found, _ = localise(left, placement=placed(8))
    assert blamed(found) == [3]


def test_who_goes_on_in_another_group_saw_the_call_before_end_well():
    """Rank 0 hangs between two steps; ranks 2 and 5 left no dump."""
    programs = {
        rank: [*step, Call("0", size=(1,)), *step]
        for rank, step in ((rank, calls[:3]) for rank, calls in tp_dp_steps(8, 1).items())
    }
    programs[0] = programs[0][:4]
    left = dumps(run(tensor_and_data_parallel(8), programs), NAMED_GLOO, without=[2, 5])
    found, _ = localise(left, placement=placed(8))
    assert blamed(found) == [0]


def test_where_groups_name_no_ranks_any_rank_without_a_dump_may_be_a_member():
    """Rank 2 died in its pair's second call and ended rank 3's; ranks 4 and 7 left no dump."""
    programs = tp_dp_steps(8, 5)
    programs[2] = programs[2][:10]
    left = dumps(run(tensor_and_data_parallel(8), programs), GLOO, without=[2, 4, 7])
    seen = [retired_at_the_end(dump) if dump.rank == 3 else dump for dump in left]
    found, _ = localise(seen, placement=placed(8))
    assert not blamed(found)
    assert set(blamed(found, Role.POSSIBLE)) == {2, 4, 7}


def test_a_finished_job_with_a_lost_dump_waits_for_nobody():
    left = dumps(run(data_parallel(8), steps(8, 4)), GLOO, without=[6])
    found, _ = localise(left, placement=placed(8))
    assert found.verdict.cls in {VerdictClass.HEALTHY, VerdictClass.UNKNOWN}
    assert not blamed(found)
