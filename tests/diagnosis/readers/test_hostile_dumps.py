"""Pickles that attack: each ends in a clear reason, and the dump beside it is still read."""

import io
import os
import pickle
import resource
import struct
import time
from contextlib import suppress
from pathlib import Path

import pytest

from diagnosis.readers.child_process import ChildLimits
from diagnosis.readers.flight_recorder import read_dumps
from tests.diagnosis.recorded_job import data_parallel, dump, evidence, run, steps

GOOD = dump(run(data_parallel(2), steps(2, 2)), 1)
MANY = 2_000_000
#: A dictionary whose keys all hash to the same slot: quadratic to build.
BUSY = (
    b"\x80\x02}("
    + b"".join(
        b"\x8a\x0a" + (key * (2**61 - 1)).to_bytes(10, "little") + b"N" for key in range(60_000)
    )
    + b"u."
)


class Attack:
    """Unpickling this would run a command."""

    def __reduce__(self):
        return os.system, ("exit 1",)


def nested():
    """A tree that is small in memory and endless to walk."""
    tree: list[object] = []
    for _ in range(60):
        tree = [tree] * 10
    return tree


HOSTILE = {
    "calls a function": (pickle.dumps({"version": Attack()}), "asks to call posix.system"),
    "names a global": (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "asks to call os.system"),
    "persistent id": (b"\x80\x02X\x01\x00\x00\x00aQ.", "persistent id"),
    "extension": (b"\x80\x02\x82\x05.", "registered class"),
    "truncated": (pickle.dumps(GOOD, 2)[:-100], "truncated after "),
    "claims 8 GB": (b"\x80\x04\x8e" + struct.pack("<Q", 8 << 30) + b"a.", "512 MB allowed"),
    "claims a huge memo": (b"\x80\x02]r" + struct.pack("<I", 2**31 - 1) + b".", "512 MB allowed"),
    "claims 10^9 elements": (
        b"\x80\x02](" + b"N" + b"r" + struct.pack("<I", 10**9) + b"e.",
        "512 MB allowed",
    ),
    "a million entries": (b'{"entries": [' + b"0," * 999_999 + b"0]}", "more than the 200000"),
    "deep nesting": (b"\x80\x02" + b"]" * MANY + b"a" * (MANY - 1) + b".", "not a Flight Recorder"),
    "many dictionaries": (b"\x80\x02" + b"}" * 20_000_000 + b".", "512 MB allowed"),
    "nested key": (b"\x80\x02}" + b"(" * MANY + b"t" * MANY + b"K\x01s.", "killed the reader"),
    "nested JSON": (b'{"entries":' + b"[" * 99_999 + b"]" * 99_999 + b"}", "nested too deeply"),
    "cut JSON": (b'{"version": "2.10", "entries": [{"pg_id": 1},', "truncated after 45 bytes"),
    "wide number": (pickle.dumps({"entries": [{"record_id": 1 << 80}]}), "64-bit integer"),
    "no bytes": (b"", "0 bytes"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_each_is_refused_with_its_reason_and_the_next_dump_is_read(name):
    content, reason = HOSTILE[name]
    read, skipped = read_dumps([evidence(content, "bad_rank_0"), evidence(GOOD, "good_rank_1")])
    assert [found.rank for found in read] == [1]
    assert reason in skipped[0].reason


def test_a_tree_without_end_is_not_walked():
    content = {**GOOD, "entries": [{"frames": nested(), "profiling_name": "nccl:x"}]}
    read, _ = read_dumps([evidence(content, "odd_rank_0")])
    assert len(read) == 1


@pytest.mark.parametrize(
    "content",
    [BUSY, pickle.dumps({"entries": [{"input_sizes": nested()}]}, 2)],
    ids=["keys", "memo"],
)
def test_a_dump_that_burns_processor_time_is_ended(content):
    busy = evidence(content, "busy_rank_0")
    read, skipped = read_dumps(
        [busy, evidence(GOOD, "good_rank_1")], limits=ChildLimits(cpu_seconds=1)
    )
    assert skipped[0].reason == "refused: needs more than 1 s of processor time"
    assert len(read) == 1


def test_a_dump_that_takes_too_long_is_ended():
    busy = evidence(BUSY, "busy_rank_0")
    _, skipped = read_dumps([busy], limits=ChildLimits(wall_seconds=0.2))
    assert skipped[0].reason == "refused: reading it took longer than 0.2 s"


def test_a_file_over_its_limit_is_refused_unread():
    _, skipped = read_dumps([evidence(b"x" * 2**21, "big_rank_0")], limits=ChildLimits(file_mb=1))
    assert skipped[0].reason == "refused: larger than the 1 MB allowed"


def test_too_many_entries_are_refused():
    content = {"version": "2.10", "entries": [{}] * 11}
    _, skipped = read_dumps([evidence(content, "x_rank_0")], limits=ChildLimits(entries=10))
    assert "11 entries, more than the 10 allowed" in skipped[0].reason


def test_this_processs_memory_does_not_grow_with_any_of_them():
    pieces = [evidence(content, f"bad_rank_{n}") for n, (content, _) in enumerate(HOSTILE.values())]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _, skipped = read_dumps(pieces)
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert len(skipped) == len(HOSTILE)
    assert grown_kb < 50 * 1024


def children():
    """Processes that this one started and that still run; threads may end meanwhile."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            found.update(map(int, (task / "children").read_text().split()))
    return found


def test_the_dump_is_opened_in_a_child_with_limits_on_memory_time_files_and_core():
    mine = children()
    limits_seen: list[int] = []

    def opened():
        (child,) = children() - mine
        names = (
            resource.RLIMIT_AS,
            resource.RLIMIT_CPU,
            resource.RLIMIT_FSIZE,
            resource.RLIMIT_CORE,
        )
        patience = time.monotonic() + 90
        while resource.prlimit(child, resource.RLIMIT_CPU)[0] == resource.RLIM_INFINITY:
            assert time.monotonic() < patience
        limits_seen.extend(resource.prlimit(child, name)[0] for name in names)
        return io.BytesIO(pickle.dumps(GOOD, 2))

    good = evidence(GOOD, "good_rank_1")
    watched = type(good)(name=good.name, open=opened, size=good.size)
    read, _ = read_dumps([watched], limits=ChildLimits(memory_mb=256, cpu_seconds=7))
    assert len(read) == 1
    memory, processor, files, core = limits_seen
    assert (memory, files, core) == (256 << 20, 0, 0)
    assert 7 <= processor <= 9


def test_the_childs_memory_stays_below_its_limit():
    limits = ChildLimits(memory_mb=128)
    bomb = evidence(b"\x80\x02" + b"}" * 10_000_000 + b".", "bad_rank_0")
    _, skipped = read_dumps([bomb], limits=limits)
    assert skipped[0].reason == "refused: needs more than the 128 MB allowed"


def test_a_file_that_cannot_be_opened_is_skipped():
    def gone():
        raise FileNotFoundError("gone")

    missing = evidence(GOOD, "x_rank_0")
    broken = type(missing)(name="y_rank_2", open=gone, size=10)
    read, skipped = read_dumps([broken, missing])
    assert len(read) == 1
    assert skipped[0].reason == "cannot be opened: gone"


def test_an_answer_that_is_too_large_is_refused_and_the_next_dump_is_read():
    wide = {"version": "2.10", "entries": [{"record_id": n} for n in range(10_000)]}
    pieces = [evidence(wide, "wide_rank_0"), evidence(GOOD, "good_rank_1")]
    read, skipped = read_dumps(pieces, limits=ChildLimits(answer_mb=1))
    assert [found.rank for found in read] == [1]
    assert "takes more than 1 MB" in skipped[0].reason
