"""Dumps in the forms of each version and backend."""

import json
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from diagnosis.simulator.scenarios import simulate
from diagnosis.simulator.simulation import Simulation
from tests.conftest import cases_dir
from tests.diagnosis.simulator.dumps import dump_names, dumps_of, load, rank_of


@cache
def hang(**options: Any) -> Simulation:
    return simulate("hang_compute", seed=4, hosts=2, gpus_per_host=4, **options)


def any_dump(**options: Any) -> dict[str, Any]:
    return next(iter(dumps_of(hang(**options)).values()))


def test_every_live_rank_leaves_a_dump_that_needs_no_globals():
    assert sorted(dumps_of(hang())) == list(range(8))


def test_the_keys_of_an_entry_are_those_of_a_recorded_dump():
    path = cases_dir() / "flight_recorder_nccl_form/hang_compute/comm_lib_trace_rank_0"
    recorded = load(path.read_bytes())
    ours = any_dump()
    assert list(ours) == list(recorded)
    assert list(ours["entries"][0]) == list(recorded["entries"][0])


def test_without_timing_an_unfinished_call_is_scheduled_and_has_no_times():
    unfinished = [e for e in any_dump()["entries"] if e["state"] != "completed"]
    assert unfinished
    assert {entry["state"] for entry in unfinished} == {"scheduled"}
    assert {entry["time_discovered_started_ns"] for entry in unfinished} == {None}


def test_with_timing_the_oldest_unfinished_call_of_a_waiting_rank_is_started():
    simulation = hang(timing=True)
    waiting = dumps_of(simulation)[simulation.truth.victims[0]]["entries"]
    states = [entry["state"] for entry in waiting]
    assert states[states.count("completed")] == "started"


def test_with_timing_completed_calls_and_no_others_have_a_duration():
    for entry in any_dump(timing=True)["entries"]:
        assert ("duration_ms" in entry) == (entry["state"] == "completed")


def test_completion_is_discovered_after_creation():
    for entry in any_dump()["entries"]:
        if entry["state"] == "completed":
            assert entry["time_discovered_completed_ns"] > entry["time_created_ns"]


def test_record_ids_follow_the_order_of_creation():
    entries = any_dump()["entries"]
    assert [entry["record_id"] for entry in entries] == list(range(len(entries)))
    assert all(a["time_created_ns"] <= b["time_created_ns"] for a, b in pairwise(entries))


@pytest.mark.parametrize("shape", [{}, {"tp": 1, "pp": 1}, {"tp": 2, "pp": 2}])
def test_a_collective_number_is_used_once_in_a_group(shape):
    for dump in dumps_of(hang(**shape)).values():
        used = [
            (entry["pg_id"], entry["collective_seq_id"])
            for entry in dump["entries"]
            if not entry["is_p2p"]
        ]
        assert len(used) == len(set(used))


def test_status_agrees_with_the_entries_of_each_group():
    for dump in dumps_of(hang()).values():
        for pg_id, counts in dump["pg_status"].items():
            own = [entry for entry in dump["entries"] if entry["pg_id"] == int(pg_id)]
            done = [entry for entry in own if entry["state"] == "completed"]
            assert counts["last_enqueued_collective"] == _number(own)
            assert counts["last_completed_collective"] == _number(done)


def _number(entries: list[dict[str, Any]]) -> int:
    if not entries:
        return -1
    last = entries[-1]
    return int(last["p2p_seq_id"] if last["is_p2p"] else last["collective_seq_id"])


def test_groups_are_those_that_the_entries_use():
    dump = any_dump()
    assert set(dump["pg_config"]) == {entry["process_group"][0] for entry in dump["entries"]}


def test_sends_and_receives_name_ranks_within_the_group():
    simulation = simulate("hang_compute", seed=4, hosts=4, gpus_per_host=4, tp=2, pp=2)
    names = {
        entry["profiling_name"]
        for dump in dumps_of(simulation).values()
        for entry in dump["entries"]
        if entry["is_p2p"]
    }
    assert names == {"nccl:send 0->1", "nccl:recv 1<-0", "nccl:send 1->0", "nccl:recv 0<-1"}


@pytest.mark.parametrize(
    ("version", "key"),
    [
        ("2.2", None),
        ("2.4", None),
        ("2.7", "nccl_version"),
        ("2.9", "nccl_version"),
        ("2.10", "comm_lib_version"),
        ("2.11", "comm_lib_version"),
    ],
)
def test_the_library_is_named_as_the_version_names_it(version, key):
    dump = any_dump(fr_version=version)
    assert dump["version"] == version
    assert set(dump) - {"version", "pg_config", "pg_status", "entries"} == ({key} - {None})


@pytest.mark.parametrize(("version", "expected"), [("2.7", False), ("2.9", True)])
def test_threads_are_recorded_from_version_2_9_on(version, expected):
    assert ("thread_id" in any_dump(fr_version=version)["entries"][0]) is expected


def test_a_short_ring_keeps_the_newest_entries_and_their_ids():
    whole, ring = any_dump()["entries"], any_dump(ring=12)["entries"]
    assert ring == whole[-12:]


def test_only_active_leaves_out_what_completed():
    entries = any_dump(only_active=True)["entries"]
    assert entries
    assert all(entry["state"] != "completed" for entry in entries)


def test_without_stacks_there_are_no_frames():
    assert "frames" not in any_dump(stacks=False)["entries"][0]


def test_gloo_marks_completion_by_retired_alone_and_knows_no_groups():
    dump = any_dump(backend="gloo")
    entries = dump["entries"]
    assert dump["pg_config"] == {"": {"name": "", "desc": "", "ranks": "[]"}}
    assert {entry["state"] for entry in entries} == {"scheduled"}
    assert {entry["retired"] for entry in entries} == {True, False}
    assert all(entry["profiling_name"].startswith("gloo:") for entry in entries)


def test_gloo_counts_sends_and_receives_without_recording_them():
    simulation = simulate("healthy", seed=4, hosts=2, gpus_per_host=4, tp=2, pp=2, backend="gloo")
    dump = dumps_of(simulation)[0]
    assert not any(entry["is_p2p"] for entry in dump["entries"])
    recorded = {str(entry["pg_id"]) for entry in dump["entries"]}
    assert set(dump["pg_status"]) - recorded


def test_a_gloo_host_never_runs_ahead():
    for dump in dumps_of(hang(backend="gloo")).values():
        assert sum(not entry["retired"] for entry in dump["entries"]) <= 1


def test_the_json_form_has_the_values_of_the_pickle_form():
    pickled, simulation = dumps_of(hang()), hang(fr_form="json")
    for name in dump_names(simulation):
        assert json.loads(simulation.files[name]) == _as_json(pickled[rank_of(name)])


def _as_json(dump: dict[str, Any]) -> dict[str, Any]:
    """The pickle form rewritten field by field: no frames, 0 for None, counters as text."""
    entries = [
        {
            name: list(value) if isinstance(value, tuple) else 0 if value is None else value
            for name, value in entry.items()
            if name != "frames"
        }
        for entry in dump["entries"]
    ]
    status = {
        pg_id: {name: str(number) for name, number in counts.items()}
        for pg_id, counts in dump["pg_status"].items()
    }
    return {**dump, "entries": entries, "pg_status": status}


def test_json_without_entries_has_no_such_key():
    simulation = simulate(
        "healthy", seed=4, hosts=1, gpus_per_host=4, fr_form="json", only_active=True
    )
    assert "entries" not in json.loads(simulation.files["comm_lib_trace_rank_0.json"])


def test_dumps_can_carry_the_host_in_their_name():
    assert "nccl_trace_rank_node-002_5" in hang(host_in_name=True).files


def test_lost_dumps_are_never_those_of_the_culprit():
    simulation = simulate("hang_compute", seed=4, hosts=4, missing_dumps=0.6)
    kept = set(dumps_of(simulation))
    assert len(kept) < 24
    assert set(simulation.truth.culprits) <= kept
