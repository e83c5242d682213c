"""The picture of collective progress: what is shown of it, and that it is bounded."""

import pytest
from django.test import Client

from diagnosis.models import ProgressPicture
from diagnosis.views.progress_map import MAP_ROWS
from diagnosis.views.progress_shapes import MARKS, Progress, shape
from tests.factories import DiagnosisFactory, UserFactory


def group(index: int, enqueued: list[int], *, blamed: dict[int, str] | None = None, **given):
    count = len(enqueued)
    roles = blamed or {}
    return {
        "index": index,
        "label": f"group {index}",
        "ops": ["all_reduce"],
        "size": count,
        "ranks": list(range(count)),
        "hosts": [""] * count,
        "enqueued": enqueued,
        "completed": [max(-1, value - 1) for value in enqueued],
        "reported": [value >= 0 for value in enqueued],
        "waiting": [value == max(enqueued) and len(set(enqueued)) > 1 for value in enqueued],
        "blamed": [roles.get(rank, "") for rank in range(count)],
        **given,
    }


def wait(communicator: int, waiting: list[int], blocking: list[int]) -> dict[str, object]:
    return {
        "communicator": communicator,
        "seq": 14,
        "p2p": False,
        "waiters": f"ranks {waiting}",
        "blockers": f"ranks {blocking}",
        "waiting_ranks": waiting,
        "blocking_ranks": blocking,
    }


def drawn(*groups, waits=(), communicator: int | None = None, folded: bool = False) -> Progress:
    data = {"folded": folded, "communicators": groups, "waits": waits}
    shown = shape(data, communicator=communicator)
    assert shown is not None
    return shown


def test_the_communicator_in_which_the_suspect_is_behind_comes_first():
    shown = drawn(group(0, [5, 5, 5]), group(1, [7, 6, 7], blamed={1: "culprit"}))
    assert shown.detail.label == "group 1"


def test_both_sides_of_a_mismatch_stand_beside_each_other_with_what_only_one_has():
    frames = ["all_reduce (c10d.py:9)", "step (train.py:75)", "main (train.py:9)"]
    sides = [
        {"text": "rank 2 called", "evidence": "a", "entry": 7, "frames": frames},
        {"text": "rank 0 called", "evidence": "b", "entry": 8, "frames": [frames[0], frames[2]]},
    ]
    shown = shape({"folded": False, "communicators": [group(0, [5, 5])], "mismatch": sides})
    assert shown is not None
    assert shown.stacks == [
        ((frames[0], False), (frames[0], False)),
        ((frames[1], True), (frames[2], False)),
        ((frames[2], False), ("", False)),
    ]


def test_any_communicator_can_be_asked_for():
    quiet = group(0, [5, 5, 5])
    assert drawn(quiet, group(1, [7, 6, 7]), communicator=0).detail.label == "group 0"


def test_the_communicator_that_the_verdict_names_comes_before_the_most_suspicious():
    groups = [group(0, [5, 5]), group(1, [7, 6], blamed={1: "culprit"})]
    shown = shape({"communicators": groups, "waits": [], "named": 0})
    assert shown is not None
    assert shown.detail.label == "group 0"


def test_choices_are_in_the_order_of_their_numbers_and_kept_apart():
    shown = drawn(group(10, [5, 5]), group(9, [5, 5]), group(2, [5, 4]))
    assert [one.label for one in shown.disturbed] == ["group 2"]
    assert [one.label for one in shown.in_step] == ["group 9", "group 10"]


def test_a_rank_awaited_point_to_point_did_not_arrive_though_nothing_is_counted():
    pair = group(0, [-1, -1], reported=[True, True], waiting=[True, False])
    detail = drawn(pair, waits=[wait(0, [0], [1])]).detail
    assert [mark.state for mark in detail.marks] == ["waits", "did not arrive"]
    assert not detail.is_counted


def test_the_suspect_is_the_first_mark_and_did_not_arrive():
    mark = drawn(group(0, [7, 7, 6, 7], blamed={2: "culprit"})).detail.marks[0]
    assert (mark.who, mark.state, mark.role) == ("rank 2", "did not arrive", "culprit")


def test_a_rank_without_report_has_no_counts():
    mark = drawn(group(0, [7, -1, 7], blamed={1: "possible"})).detail.marks[0]
    assert (mark.enqueued, mark.completed, mark.state) == (None, None, "no report")


def test_marks_are_bounded_and_the_rest_is_counted():
    detail = drawn(group(0, [7] * 200 + [6])).detail
    assert (len(detail.marks), detail.left_out) == (MARKS, 201 - MARKS)


def test_the_map_tells_how_far_each_rank_is_behind():
    found = drawn(group(0, [7, 5, 7]), group(1, [4, 4, 3])).map
    assert found is not None
    assert dict(zip(found.rows, found.behind, strict=True)) == {
        "group 0": [0, 2, 0],
        "group 1": [0, 0, 1],
    }


def test_quiet_communicators_are_left_out_of_the_map():
    found = drawn(group(0, [7, 5]), group(1, [4, 3]), group(2, [9, 9])).map
    assert found is not None
    assert (sorted(found.rows), found.left_out) == (["group 0", "group 1"], 1)


def test_a_large_map_is_bounded():
    found = drawn(*[group(index, [7, 6]) for index in range(100)]).map
    assert found is not None
    assert (len(found.rows), found.left_out) == (MAP_ROWS, 100 - MAP_ROWS)


def test_folded_by_host_columns_are_hosts():
    hosts = ["node-1", "node-2"]
    found = drawn(group(0, [7, 6], hosts=hosts), group(1, [5, 4], hosts=hosts), folded=True).map
    assert found is not None
    assert list(found.columns) == ["node-1", "node-2"]


def test_waits_name_their_communicator_and_call():
    first = drawn(group(0, [7, 6]), waits=[wait(0, [0], [1])]).waits[0]
    assert (first.label, first.call) == ("group 0", "all_reduce #14")


def test_without_communicators_there_is_nothing_to_show():
    assert shape({"communicators": [], "waits": []}) is None


@pytest.fixture
def viewer(db) -> Client:
    client = Client()
    client.force_login(UserFactory(role="viewer"))
    return client


def test_the_picture_comes_with_its_table(viewer: Client):
    run = DiagnosisFactory(done=True)
    ProgressPicture.objects.create(
        diagnosis=run,
        data={"folded": False, "communicators": [group(0, [48211, 48210])], "waits": []},
    )
    page = viewer.get(f"/diagnoses/{run.pk}/progress").content.decode()
    assert 'data-plots="progress"' in page
    assert '<td class="num">48210</td>' in page


def test_a_diagnosis_without_picture_has_no_content(viewer: Client):
    run = DiagnosisFactory(done=True)
    assert viewer.get(f"/diagnoses/{run.pk}/progress").status_code == 204


@pytest.mark.django_db
def test_pictures_need_a_login(client: Client):
    assert client.get("/diagnoses/1/progress").status_code == 302


def test_lateness_is_shown_bounded_the_latest_first():
    ranks = list(range(100))
    told = {"ranks": ranks, "hosts": ["a"] * 100, "late_ms": [9.0] * 100, "blamed": [""] * 100}
    shown = shape({"communicators": [group(0, [5, 5])], "lateness": told})
    assert shown
    assert shown.lateness
    assert (shown.lateness.marks[0].who, shown.lateness.left_out) == ("rank 0", 100 - MARKS)


def test_a_picture_from_before_lateness_was_measured_has_none():
    assert drawn(group(0, [5, 5])).lateness is None
