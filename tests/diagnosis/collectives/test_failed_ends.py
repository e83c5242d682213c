"""On gloo an operation counts as over when it failed, too: whose peer died is no culprit."""

from dataclasses import replace

from diagnosis.collectives.procedure import localise
from diagnosis.core.collectives import RankDump
from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.words import Action, Role, VerdictClass
from tests.diagnosis.collectives.judging import blamed
from tests.diagnosis.recorded_job import (
    GLOO,
    data_parallel,
    dumps,
    placed,
    run,
    steps,
    tensor_and_data_parallel,
    tp_dp_steps,
)


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


def test_a_finished_job_with_a_lost_dump_waits_for_nobody():
    left = dumps(run(data_parallel(8), steps(8, 4)), GLOO, without=[6])
    found, _ = localise(left, placement=placed(8))
    assert found.verdict.cls in {VerdictClass.HEALTHY, VerdictClass.UNKNOWN}
    assert not blamed(found)
