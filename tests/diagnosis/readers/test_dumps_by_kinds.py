"""A dump that is read by the kinds of its entries gives what unpickling it gives."""

import io
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.readers import flight_recorder_child as child
from diagnosis.readers.child_process import ChildLimits
from diagnosis.readers.flight_recorder import read_dumps
from diagnosis.readers.flight_recorder_alike import LearningReader
from diagnosis.readers.flight_recorder_plain import COLUMNS, compact
from diagnosis.simulator.scenarios import simulate
from diagnosis.simulator.writers import torch_pickle
from diagnosis.simulator.writers.flight_recorder import dump_of
from tests.diagnosis.recorded_job import evidence

MOST = 10_000
TABLES = {"group": "group_names", "call": "calls", "backend": "backends", "stack": "stacks"}
PROTOCOLS = (2, 3, 4, 5)


@pytest.fixture(scope="module")
def large():
    run = simulate("healthy", seed=3, hosts=2, tp=2, pp=2, steps=60, ring=1000, timing=True).run
    return [with_frames(dict, dump_of(run, rank)) for rank in (0, 9)]


def by_kinds(content):
    return LearningReader(child.load, child.memo_of).read(content, MOST)


def plainly(answer):
    """What an answer says, whatever its tables' order."""
    header, columns = answer
    values = dict(
        zip(COLUMNS, np.frombuffer(columns, np.int64).reshape(len(COLUMNS), -1), strict=True)
    )
    said = {}
    for name, column in values.items():
        table = [*header[TABLES[name]], None] if name in TABLES else None
        said[name] = column.tolist() if table is None else [table[number] for number in column]
    return said, {key: value for key, value in header.items() if key not in TABLES.values()}


def with_frames(kind, dump):
    """The dump with stack frames of this kind of dictionary, shared as they were."""
    shared: dict[int, dict[str, object]] = {}
    entries = [
        {**e, "frames": [shared.setdefault(id(frame), kind(frame)) for frame in e["frames"]]}
        for e in dump["entries"]
    ]
    return {**dump, "entries": entries}


def written_by_torch(dump):
    return torch_pickle.dumps(with_frames(torch_pickle.SharedDict, dump))


def alike(content):
    found = by_kinds(content)
    assert found is not None
    return plainly(found) == plainly(compact(child.load(content), MOST))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pythons_pickles_of_any_protocol_give_the_same(large, protocol):
    assert all(alike(pickle.dumps(dump, protocol)) for dump in large)


def test_torchs_pickles_give_the_same(large):
    assert all(alike(written_by_torch(dump)) for dump in large)


def test_later_dumps_are_read_by_what_earlier_ones_taught(large):
    reader = LearningReader(child.load, child.memo_of)
    contents = [pickle.dumps(dump, protocol) for dump in large for protocol in PROTOCOLS]
    for content in contents:
        found = reader.read(content, MOST)
        assert plainly(found) == plainly(compact(child.load(content), MOST))


def test_a_dump_whose_entries_all_differ_is_left_to_the_unpickler(large):
    entries = [{**entry, "thread_id": f"{n}"} for n, entry in enumerate(large[0]["entries"])]
    assert by_kinds(pickle.dumps({**large[0], "entries": entries}, 2)) is None


def test_a_small_dump_is_left_to_the_unpickler(large):
    assert by_kinds(pickle.dumps({**large[0], "entries": large[0]["entries"][:9]}, 2)) is None


def test_too_many_entries_are_left_to_the_unpickler_which_refuses_them(large):
    content = pickle.dumps(large[0], 2)
    assert LearningReader(child.load, child.memo_of).read(content, 999) is None


numbers = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([0, 255, 256, 65535, 65536, -1])
KINDS = st.fixed_dictionaries(
    {
        "profiling_name": st.sampled_from(["nccl:all_reduce", "nccl:send 0->1", "nccl:broadcast"]),
        "input_sizes": st.sampled_from([[[64, 300]], [[65, 300]], [[1]], []]),
        "state": st.sampled_from(["completed", "scheduled", "started"]),
        "process_group": st.sampled_from([("0", "default_pg"), ("12", "TP"), ("13", "TP")]),
        "retired": st.booleans(),
        "pg_id": st.integers(0, 300),
    }
)


@settings(max_examples=60)
@given(
    kinds=st.lists(KINDS, min_size=1, max_size=6),
    seed=st.integers(0, 2**32),
    edges=st.lists(numbers, min_size=1, max_size=4),
    protocol=st.sampled_from([*PROTOCOLS, "torch"]),
)
def test_any_mixture_of_kinds_and_numbers_gives_the_same(kinds, seed, edges, protocol):
    chance = np.random.default_rng(seed)
    frames = [{"name": f"f{n}", "filename": "/a/train.py", "line": 300 * n} for n in range(60)]
    entries = []
    for record in range(1100):
        kind, edge = kinds[chance.integers(len(kinds))], edges[chance.integers(len(edges))]
        time = [None, 0, 1_700_000_000_000_000_000 + record, edge][chance.integers(4)]
        numbered = {"record_id": record, "collective_seq_id": edge, **kind}
        timed = {"duration_ms": chance.random()} if chance.integers(2) else {}
        entries.append(
            {"frames": frames[30 * chance.integers(2) :], **numbered, **timed}
            | {"time_discovered_completed_ns": time, "op_id": record}
        )
    dump = {"version": "2.10", "pg_config": {}, "entries": entries}
    content = written_by_torch(dump) if protocol == "torch" else pickle.dumps(dump, protocol)
    found = by_kinds(content)
    if found is not None:
        assert plainly(found) == plainly(compact(child.load(content), MOST))


def damaged(content, seed):
    """The content with three random bytes replaced."""
    chance = np.random.default_rng(seed)
    changed = bytearray(content)
    for place in chance.integers(len(changed), size=3):
        changed[place] = chance.integers(256)
    return bytes(changed)


def test_a_damaged_dump_gives_what_unpickling_gives_wherever_that_can_read_it(large):
    contents = [pickle.dumps(large[0], protocol) for protocol in (2, 4)]
    pieces = [evidence(damaged(contents[n % 2], n), f"x_rank_{n}") for n in range(40)]
    by_kinds, unpickled = (
        {dump.rank: dump for dump in read_dumps(pieces, limits=limits)[0]}
        for limits in (ChildLimits(learn_from_mb=0), ChildLimits(learn_from_mb=99))
    )
    assert unpickled.keys() <= by_kinds.keys()
    assert all(same(dump, by_kinds[rank]) for rank, dump in unpickled.items())


def same(one, other):
    """Do two dumps hold the same, whatever the order of their tables?"""
    ours, theirs = one.entries, other.entries
    columns = ("record_id", "pg_id", "seq", "created_ns", "completed_ns", "state", "peer")
    tables = (("group", "groups"), ("call", "calls"), ("stack", "stacks"))
    return (
        all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for name in columns)
        and all(
            [(*getattr(ours, table), None)[n] for n in getattr(ours, name)]
            == [(*getattr(theirs, table), None)[n] for n in getattr(theirs, name)]
            for name, table in tables
        )
        and one.groups == other.groups
    )


def test_an_attack_inside_a_large_dump_is_refused_by_the_child(large):
    entries = [*large[0]["entries"]]
    entries[300] = {**entries[300], "state": io.BytesIO}
    content = pickle.dumps({**large[0], "entries": entries}, 2)
    read, skipped = read_dumps(
        [evidence(content, "bad_rank_0"), evidence(large[1], "good_rank_9")],
        limits=ChildLimits(learn_from_mb=0),
    )
    assert [found.rank for found in read] == [9]
    assert "asks to call _io.BytesIO" in skipped[0].reason


def test_the_child_reads_the_same_whether_it_learns_or_not(large):
    pieces = [evidence(dump, f"x_rank_{rank}") for rank, dump in enumerate(large)]
    by_kinds, unpickled = (
        read_dumps(pieces, limits=ChildLimits(learn_from_mb=megabytes))[0] for megabytes in (0, 99)
    )
    assert all(same(*pair) for pair in zip(by_kinds, unpickled, strict=True))
