"""Every form of Flight Recorder dump becomes the same core type."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.core.collectives import Counters, Signature
from diagnosis.readers.flight_recorder import read_dumps
from tests.diagnosis.recorded_job import (
    GLOO,
    NCCL,
    as_json,
    data_parallel,
    dump,
    evidence,
    run,
    steps,
)


@pytest.fixture(scope="module")
def job():
    programs = steps(4, 2)
    programs[2] = programs[2][:4]
    return run(data_parallel(4), programs)


def read_one(content, name="comm_lib_trace_rank_1"):
    read, skipped = read_dumps([evidence(content, name)])
    assert not skipped
    return read[0]


def test_a_pickle_gives_entries_counters_and_groups(job):
    found = read_one(dump(job, 1))
    assert found.version == (2, 10)
    assert found.status[0] == Counters(enqueued=5, started=-1, completed=4)
    assert found.groups["0"].ranks == (0, 1, 2, 3)
    assert found.entries.calls[0] == Signature(
        "all_reduce", ((64, 32),), ((64, 32),), ("Float",), ("Float",)
    )


def test_shared_frames_are_kept_once(job):
    found = read_one(dump(job, 1))
    assert len(found.entries.stacks) == 1
    assert found.entries.stacks[0][1].function == "train_step"


def test_json_with_text_counters_says_the_same_as_the_pickle(job):
    plain, text = read_one(dump(job, 1)), read_one(as_json(dump(job, 1)))
    assert text.status == plain.status
    assert np.array_equal(text.entries.seq, plain.entries.seq)
    assert np.array_equal(text.entries.state, plain.entries.state)
    assert np.array_equal(text.entries.created_ns, plain.entries.created_ns)


def test_json_without_entries_is_an_empty_ring(job):
    content = dump(job, 1, replace(NCCL, only_active=True), at=0.0)
    assert len(read_one(as_json(content)).entries) == 0


@pytest.mark.parametrize("version", ["2.0", "2.4", "2.7", "2.9", "2.10", "2.11"])
def test_every_version_is_read_and_compares_as_numbers(job, version):
    found = read_one(dump(job, 1, replace(NCCL, version=version)))
    assert found.version == (2, int(version[2:]))
    assert len(found.entries) == 5


@pytest.mark.parametrize("key", ["nccl_version", "comm_lib_version"])
def test_the_librarys_version_is_read_under_both_names(job, key):
    content = {**dump(job, 1), "comm_lib_version": None, key: "2.27.3"}
    assert read_one(content).library == "2.27.3"


@pytest.mark.parametrize("backend", ["nccl", "nccl2", "xccl", "rcclx", "hccl", "gloo"])
def test_any_backend_prefix_is_split_from_the_operation(job, backend):
    entries = read_one(dump(job, 1, replace(NCCL, backend=backend))).entries
    assert entries.backends == (backend,)
    assert entries.calls[0].op == "all_reduce"


def test_vendor_state_beside_the_entries_is_left_alone(job):
    content = {**dump(job, 1), "nccl_comm_state": {"0xabc": {"CT_currentColls": "[]"}}}
    assert len(read_one(content).entries) == 5


def test_a_missing_config_is_no_error(job):
    assert read_one(dump(job, 1, GLOO)).groups[""].ranks == ()


def test_peers_of_sends_and_receives_are_ranks_within_the_group(job):
    content = dump(job, 1)
    content["entries"][0] |= {"profiling_name": "nccl:recv 1<-3", "is_p2p": True}
    entries = read_one(content).entries
    assert (entries.peer[0], bool(entries.is_p2p[0])) == (3, True)
    assert entries.peer[1] == -1


def test_durations_and_open_times_are_kept(job):
    entries = read_one(dump(job, 1, replace(NCCL, timing=True))).entries
    assert entries.duration_us[0] > 0
    assert (entries.duration_us[-1], entries.completed_ns[-1]) == (-1, 0)


@pytest.mark.parametrize(
    ("name", "rank", "host"),
    [
        ("nccl_trace_rank_7", 7, None),
        ("out/comm_lib_trace_rank_12", 12, None),
        ("job_dump_3", 3, None),
        ("nccl_trace_rank_node-07_63", 63, "node-07"),
        ("fr_trace_rank_0.json", 0, None),
    ],
)
def test_rank_and_host_come_from_the_name(job, name, rank, host):
    found = read_one(dump(job, 1), name)
    assert (found.rank, found.host) == (rank, host)


def test_a_rank_in_the_content_is_trusted_first(job):
    assert read_one({**dump(job, 1), "rank": 9}).rank == 9


def test_a_dump_without_a_rank_is_skipped_with_what_to_do(job):
    read, skipped = read_dumps([evidence(dump(job, 1), "trace.bin")])
    assert not read
    assert "rank_<rank>" in skipped[0].reason


def test_what_is_not_a_dump_is_skipped_and_named():
    _, skipped = read_dumps([evidence([1, 2, 3], "dump_rank_0")])
    assert skipped[0].file == "dump_rank_0"
    assert "not a Flight Recorder dump" in skipped[0].reason


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@settings(max_examples=25)
@given(
    entries=st.lists(
        st.dictionaries(
            st.sampled_from(
                ["record_id", "pg_id", "process_group", "collective_seq_id", "profiling_name",
                 "input_sizes", "frames", "state", "retired", "duration_ms", "input_dtypes"]
            ),
            plain,
        )
    ),
    config=plain,
    status=plain,
)  # fmt: skip
def test_strange_values_are_read_or_skipped_but_never_raise(entries, config, status):
    content = {"version": "2.10", "entries": entries, "pg_config": config, "pg_status": status}
    read, skipped = read_dumps([evidence(content, "x_rank_0")])
    assert len(read) + len(skipped) == 1


@settings(max_examples=25)
@given(data=st.binary(min_size=1, max_size=200), proto=st.booleans())
def test_arbitrary_bytes_are_skipped_with_a_reason(data, proto):
    read, skipped = read_dumps([evidence(b"\x80\x02" + data if proto else data, "x_rank_0")])
    assert not read
    assert skipped[0].reason
