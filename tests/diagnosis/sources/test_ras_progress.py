"""RAS's communicators with the job's own ranks."""

from diagnosis.core.placement import Placement, RankPlace
from diagnosis.readers.nccl_ras_json import read_ras_json
from diagnosis.readers.nccl_ras_text import read_ras_text
from diagnosis.sources.ras_progress import lost_ranks, progress_of
from tests.diagnosis.readers.test_nccl_ras_text import HEAD, LOST
from tests.diagnosis.sources.ras_service import answer, lost, rank

PLACEMENT = Placement.of(
    RankPlace(rank=number, host=f"node-{number // 2}", local_rank=number % 2, gpu=number % 2)
    for number in range(4)
)
ALIASES = {"10.0.0.0": "node-0", "10.0.0.1": "node-1"}


def test_a_communicator_of_the_whole_job_has_the_job_s_ranks() -> None:
    members = [rank(number, f"10.0.0.{number // 2}", number % 2, 5 + number) for number in range(4)]
    progress = progress_of(read_ras_json(answer(("0xaa", members, []))), PLACEMENT)
    (world,) = progress.communicators
    assert world.ranks.tolist() == [0, 1, 2, 3]
    assert world.enqueued.tolist() == [6, 7, 8, 9]
    assert set(world.completed) == {-1}


def test_the_whole_job_s_communicator_tells_who_the_members_of_others_are() -> None:
    members = [rank(number, f"10.0.0.{number // 2}", number % 2, 9) for number in range(4)]
    pair = [rank(0, "10.0.0.0", 1, 3), rank(1, "10.0.0.1", 1, 4)]
    status = read_ras_json(answer(("0xaa", members, []), ("0xbb", pair, [])))
    progress = progress_of(status, PLACEMENT)
    assert progress.communicators[1].ranks.tolist() == [1, 3]


def test_without_one_the_placement_tells_by_host_and_gpu() -> None:
    pair = [rank(0, "10.0.0.1", 0, 3), rank(1, "10.0.0.0", 1, 4)]
    progress = progress_of(read_ras_json(answer(("0xbb", pair, []))), PLACEMENT, ALIASES)
    (comm,) = progress.communicators
    assert comm.ranks.tolist() == [1, 2]
    assert comm.enqueued.tolist() == [5, 4]


def test_a_lost_rank_is_a_member_that_nobody_speaks_for() -> None:
    pair = [rank(0, "10.0.0.0", 0, 3)], [lost(1, "10.0.0.1", 1, dead=True)]
    progress = progress_of(read_ras_json(answer(("0xbb", *pair))), PLACEMENT, ALIASES)
    (comm,) = progress.communicators
    assert comm.ranks[~comm.reported].tolist() == [3]
    assert progress.missing == (1, 2, 3)


def test_members_that_nobody_knows_are_left_out_and_counted() -> None:
    strangers = [rank(0, "192.0.2.1", 0, 3), rank(1, "192.0.2.2", 0, 4)]
    progress = progress_of(read_ras_json(answer(("0xcc", strangers, []))), PLACEMENT)
    assert progress.communicators == ()
    assert progress.notes == ("RAS: 2 memberships belong to ranks that no placement tells",)


def test_lost_ranks_are_the_job_s_own() -> None:
    lost_ones = [lost(1, "10.0.0.1", 0, dead=True), lost(2, "10.0.0.1", 1, dead=False)]
    status = read_ras_json(answer(("0xbb", [rank(0, "10.0.0.0", 0, 3)], lost_ones)))
    assert lost_ranks(status, PLACEMENT, ALIASES) == {2: True, 3: False}


def test_lost_processes_of_a_text_answer_are_found_by_their_place() -> None:
    eight = Placement.of(
        RankPlace(rank=n, host=f"node-{n // 4}", local_rank=n % 4, gpu=n % 4) for n in range(8)
    )
    status = read_ras_text((HEAD + LOST).encode())
    assert lost_ranks(status, eight, {"192.0.2.2": "node-1"}) == {7: False, 6: True}
