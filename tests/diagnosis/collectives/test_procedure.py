"""Each kind of missing rank, with generated dumps in every form that the recorder writes."""

import random
from collections.abc import Mapping
from dataclasses import replace

from diagnosis.collectives.procedure import localise
from diagnosis.collectives.report import ranks_text
from diagnosis.core.collectives import RankDump
from diagnosis.core.words import Action, IncidentKind, Role, VerdictClass
from diagnosis.readers.flight_recorder import read_dumps
from tests.diagnosis.collectives.judging import blamed, forms, hang, judged, some_ranks
from tests.diagnosis.recorded_job import (
    NCCL,
    data_parallel,
    dumps,
    evidence,
    placed,
    run,
    steps,
    tensor_and_data_parallel,
    tp_dp_steps,
)


@forms
@some_ranks
def test_a_rank_that_does_not_arrive_is_the_culprit_on_its_host(form, rank):
    found = judged(hang(rank), form)
    assert blamed(found) == [rank]
    assert found.suspects[0].target.host == placed(8).host_of(rank)
    assert (found.verdict.cls, found.decisive) == (VerdictClass.DISTRIBUTED, True)


def test_a_missing_rank_is_explained_by_its_counter_and_its_peers_call_site():
    text = judged(hang(3), NCCL).suspects[0].findings[0].text
    assert "rank 3 launched 7 of 8 collectives of group 0; its 7 peers wait" in text
    assert "train_step (/job/train.py:42)" in text


def test_the_culprits_host_is_isolated_once_and_the_job_restarted():
    found = judged(hang(3), NCCL).recommendations
    actions = [(r.action, r.target.host) for r in found]
    assert actions == [(Action.ISOLATE_HOST, "node-001"), (Action.RESTART_JOB, None)]
    assert found[-1].reason == "Restart from the last checkpoint without node-001."


def test_victims_are_a_few_and_never_isolated():
    found = judged(hang(40, 64), NCCL)
    isolated = {r.target.host for r in found.recommendations if r.action is Action.ISOLATE_HOST}
    assert len(blamed(found, Role.VICTIM)) == 8
    assert isolated == {"node-011"}


def test_without_a_placement_the_culprit_is_a_rank():
    found, _ = localise(dumps(hang(3), NCCL))
    assert found.suspects[0].target.to_dict()["kind"] == "rank"


@forms
@some_ranks
def test_the_wait_for_graph_leads_past_the_victims_of_other_groups(form, rank):
    programs = tp_dp_steps(8, 5)
    programs[rank] = programs[rank][:10]
    found = judged(run(tensor_and_data_parallel(8), programs), form)
    assert blamed(found) == [rank]
    assert "TP_" in found.verdict.summary


@forms
def test_a_healthy_job_with_subgroups_is_healthy(form):
    found = judged(run(tensor_and_data_parallel(8), tp_dp_steps(8, 5)), form)
    assert (found.verdict.cls, found.verdict.kind) == (VerdictClass.HEALTHY, IncidentKind.NONE)
    assert not found.suspects


@forms
@some_ranks
def test_a_rank_without_a_dump_is_possible_and_not_isolated(form, rank):
    """Killed, frozen and left ranks write none."""
    found = judged(hang(rank), form, without=[rank])
    assert blamed(found, Role.POSSIBLE) == [rank]
    assert not blamed(found)
    assert Action.ISOLATE_HOST not in {r.action for r in found.recommendations}


def test_a_known_end_of_the_process_makes_the_silent_rank_the_culprit():
    found = judged(hang(4), NCCL, without=[4], ended={4: "exit code -9"})
    assert blamed(found) == [4]
    assert found.verdict.kind is IncidentKind.CRASH
    assert "exit code -9" in found.verdict.summary


def test_an_end_that_nobody_waits_for_is_a_consequence():
    found = judged(hang(3), NCCL, ended={6: "SIGTERM"})
    assert blamed(found) == [3]


def test_with_most_dumps_missing_nobody_is_named():
    found = judged(hang(3), NCCL, without=[2, 3, 4, 5, 6])
    assert found.verdict.cls is VerdictClass.UNKNOWN
    assert not blamed(found)
    assert not blamed(found, Role.POSSIBLE)


def test_active_entries_only_do_not_make_finished_ranks_look_absent():
    programs = tp_dp_steps(8, 5)
    programs[2] = programs[2][:10]
    job = run(tensor_and_data_parallel(8), programs)
    assert blamed(judged(job, replace(NCCL, only_active=True))) == [2]


@forms
def test_the_order_of_the_dumps_does_not_matter(form):
    answers = set()
    taken = dumps(hang(3), form)
    for seed in range(5):
        shuffled = list(taken)
        random.Random(seed).shuffle(shuffled)  # noqa: S311 - the order of files, no secret
        found, _ = localise(shuffled, placement=placed(8))
        answers.add(repr(found))
    assert len(answers) == 1


def test_the_later_of_two_dumps_of_a_rank_is_used():
    earlier = dumps(hang(3), NCCL, at=60.0)
    found, progress = localise([*dumps(hang(3), NCCL), *earlier], placement=placed(8))
    assert blamed(found) == [3]
    assert "8 older or double dumps" in progress.notes[0]


def test_coverage_counts_ranks_hosts_and_says_what_no_source_counts():
    coverage = judged(hang(4), NCCL, without=[4]).verdict.coverage
    assert coverage["ranks"] == {"expected": 8, "reported": 7}
    assert coverage["hosts"] == {"expected": 2, "reported": 2}
    assert "WR/WC" in str(coverage["notes"])


def queued(stopped: Mapping[int, int], world: int = 4) -> list[RankDump]:
    """NCCL ranks that launch ahead of their GPU; `stopped` gives the work each bad GPU died in."""
    last, depth = 40, 6
    behind = min(stopped.values()) + 1
    pieces = []
    for rank in range(world):
        first_open = stopped.get(rank, behind + depth - 1)
        entries = [
            {
                "record_id": seq,
                "pg_id": 0,
                "process_group": ("0", "default_pg"),
                "collective_seq_id": seq,
                "profiling_name": "nccl:all_reduce",
                "input_sizes": [[8]],
                "output_sizes": [[8]],
                "time_created_ns": 10**18 + seq * 10**6,
                "state": "scheduled",
                "retired": False,
            }
            for seq in range(first_open, last)
        ]
        config = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(world)))}}
        content = {"version": "2.9", "pg_config": config, "pg_status": {}, "entries": entries}
        pieces.append(evidence(content, f"x_dump_{rank}"))
    read, _ = read_dumps(pieces)
    return read


def test_a_rank_that_launched_as_much_but_completed_far_less_has_a_stopped_gpu():
    found, _ = localise(queued({2: 20}), placement=placed(4))
    assert blamed(found) == [2]
    assert found.suspects[0].fault == "collective-gpu-stopped"


def test_several_stopped_gpus_are_all_named():
    found, _ = localise(queued({1: 20, 3: 20}, world=8), placement=placed(8))
    assert blamed(found) == [1, 3]


def test_no_dumps_at_all_are_no_error():
    found, progress = localise([])
    assert not progress.world
    assert not found.suspects


@forms
def test_every_step_is_told_in_the_trace(form):
    trace = "\n".join(judged(hang(3), form).trace)
    assert "8 dumps of 8 ranks" in trace
    assert "the waits end at rank 3" in trace


@forms
def test_all_ranks_of_one_host_missing_are_the_hosts_fault(form):
    programs = steps(8, 4)
    for rank in (4, 5, 6, 7):
        programs[rank] = programs[rank][:7]
    found = judged(run(data_parallel(8), programs), form)
    assert blamed(found) == [4, 5, 6, 7]
    isolated = [r.target.host for r in found.recommendations if r.action is Action.ISOLATE_HOST]
    assert isolated == ["node-002"]


def test_many_ranks_are_told_as_runs():
    assert ranks_text({*range(2727), *range(2728, 4096)}) == "ranks 0–2726 and 2728–4095"
    assert ranks_text(range(0, 40, 2)) == "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 12 more"
