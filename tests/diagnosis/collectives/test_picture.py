"""The picture's data: plain JSON, one row a rank, folded by host when there are many."""

import json
from typing import Any

import numpy as np

from diagnosis.collectives.counters_verdict import Told, localise_summaries
from diagnosis.collectives.picture import progress_picture
from diagnosis.collectives.procedure import localise
from diagnosis.core.collectives import counters_only
from diagnosis.simulator.layout import Layout
from tests.diagnosis.recorded_job import NCCL, Call, data_parallel, dumps, placed, run, steps


def judged(world: int):
    programs = steps(world, 2)
    programs[3] = programs[3][:4]
    return localise(dumps(run(data_parallel(world), programs), NCCL), placement=placed(world, 8))


def picture(world: int):
    found, progress = judged(world)
    return progress_picture(progress, found.suspects)


def test_each_rank_has_its_counters_and_who_is_blamed():
    (group,) = picture(8)["communicators"]
    assert group["enqueued"] == [5, 5, 5, 4, 5, 5, 5, 5]
    assert group["waiting"].count(True) == 7
    assert group["blamed"][3] == "culprit"


def test_the_waits_name_waiters_and_blockers():
    (edge,) = picture(8)["waits"]
    assert (edge["blocking_ranks"], edge["seq"]) == ([3], 5)


def test_it_is_plain_json():
    assert json.loads(json.dumps(picture(8)))["world"] == 8


def test_many_ranks_are_folded_by_host():
    shown = picture(264)
    (group,) = shown["communicators"]
    assert shown["folded"]
    assert len(group["hosts"]) == 33


def test_the_communicator_of_the_summary_is_named():
    found, progress = judged(8)
    assert progress_picture(progress, found.suspects, found.verdict.summary)["named"] == 0


def test_without_it_the_first_suspects_findings_name_it():
    found, progress = judged(8)
    assert progress_picture(progress, found.suspects, "It hangs.")["named"] == 0


def test_the_beginning_of_a_longer_label_is_not_taken_for_the_label():
    _, progress = judged(8)
    label = progress.communicators[0].label
    assert progress_picture(progress, summary=f"it waits in {label}7")["named"] is None


def large(axes: Layout) -> dict[str, Any]:
    communicators, culprit = [], 1203
    for group in axes.communicators:
        ranks = np.asarray(group.ranks)
        enqueued = np.where(ranks == culprit, 99, 100)
        communicators.append(
            counters_only(
                group.name, group.description, ranks,
                enqueued=enqueued, completed=np.full(len(ranks), 99),
            )
        )  # fmt: skip
    found, progress = localise_summaries(
        communicators, placement=placed(axes.world, 8), told=Told(still=True)
    )
    return progress_picture(progress, found.suspects, found.verdict.summary)


def test_four_thousand_ranks_are_a_picture_of_less_than_200_kb():
    shown = large(Layout(tp=8, pp=8, dp=64))
    assert len(json.dumps(shown, separators=(",", ":"))) < 200_000
    assert shown["left_out"]
    named = [one for one in shown["communicators"] if one["index"] == shown["named"]]
    assert "culprit" in named[0]["blamed"]


def test_a_mismatch_shows_both_calls_with_their_stacks():
    programs = steps(8, 2)
    programs[3][-1] = Call("0", op="broadcast")
    found, progress = localise(dumps(run(data_parallel(8), programs), NCCL), placement=placed(8, 8))
    shown: dict[str, Any] = progress_picture(progress, found.suspects)
    ours, theirs = shown["mismatch"]
    assert "rank 3 called broadcast" in ours["text"]
    assert "6 others called" in theirs["text"]
    assert ours["frames"]
