"""Large dumps by learning: entries of one kind differ in a few numbers only.

Runs in the child process. A ring of 2,000 operations holds some dozens of kinds: one call site,
group, shape and state each, whose pickled bytes are equal but for record id, sequence numbers,
times and memo numbers. The first entry of each kind stays in the pickle and goes through the
refusing unpickler with everything else; the others are compared with it byte by byte and their
numbers decoded as columns. Whatever is not as expected leaves the whole dump to the unpickler.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diagnosis.readers.flight_recorder_kinds import Ints, Kinds, entry_starts, learn, words
from diagnosis.readers.flight_recorder_layout import WORD, Layouts, Number
from diagnosis.readers.flight_recorder_plain import COLUMNS, COMPLETED, NEWEST_STACKS, compact

#: Smaller dumps are unpickled as fast as they are learned.
SMALLEST_BYTES = 64 * 1024
#: Keys whose numbers may differ between entries of one kind → the column they go to.
NUMBERS: Mapping[str, str] = {
    "record_id": "record_id",
    "collective_seq_id": "seq",
    "p2p_seq_id": "p2p_seq",
    "time_created_ns": "created_ns",
    "time_discovered_started_ns": "started_ns",
    "time_discovered_completed_ns": "completed_ns",
    "duration_ms": "duration_us",
    "op_id": "",
}
_KEYS = tuple(key for key, name in NUMBERS.items() if name)
_NO_NUMBERS = (None,) * len(_KEYS)
_FRAME, _FRAME_HEAD, _FRAMED_FROM = 0x95, 9, 4


class LearningReader:
    """Reads dumps by learning. `load` unpickles one, `memo_of` gives the memo a pickle leaves."""

    def __init__(
        self,
        load: Callable[[bytes], dict[Any, Any]],
        memo_of: Callable[[bytes], Mapping[int, Any]],
    ) -> None:
        self._load = load
        self._memo_of = memo_of
        self._layouts = Layouts()

    def read(self, content: bytes, entries_max: int) -> tuple[dict[str, Any], bytes] | None:
        """The header and columns, as `compact` gives them; None for a dump to be unpickled.

        Raises what unpickling raises.
        """
        found = self._alike(content)
        if found is None or found.rows > entries_max:
            return None
        dump = self._load(found.pickle())
        if len(dump["entries"]) != len(found.kept):
            return None
        header, columns = compact(dump, entries_max, newest_stacks=entries_max)
        every = found.columns(np.frombuffer(columns, np.int64).reshape(len(COLUMNS), -1))
        return header | {"rows": found.rows}, every.tobytes()

    def _alike(self, content: bytes) -> "Alike | None":
        data = without_frames(content)
        if data is None or len(data) < SMALLEST_BYTES:
            return None
        starts = entry_starts(data)
        if len(starts) < 3:
            return None
        keys = number_keys(self._memo_of(data[: starts[1]] + b"eu."))
        kinds = learn(data, starts, keys, self._layouts)
        return None if kinds is None else Alike(data, starts, kinds)


@dataclass(frozen=True)
class Alike:
    """A dump as a smaller pickle with one entry of each kind, and the numbers of all entries.

    `starts` are the entries' places in `data` without the dump's first entry; `kinds` are of
    those but the last.
    """

    data: bytes
    starts: Ints
    kinds: Kinds

    @property
    def rows(self) -> int:
        """Entries in the dump."""
        return len(self.starts) + 1

    @cached_property
    def kept(self) -> Ints:
        """The rows whose entries are in the smaller pickle, in order."""
        inner = np.flatnonzero(self.kinds.is_first()) + 1
        return np.concatenate([[0], inner, [self.rows - 1]])

    def pickle(self) -> bytes:
        """The smaller pickle. Entries left out still take their memo numbers."""
        bounds = self.starts.tolist()
        memoised = np.array([*(layout.memoised for layout in self.kinds.layouts), 0])
        taken = np.concatenate([[0], np.cumsum(memoised[self.kinds.kind])]).tolist()
        pieces, after = [self.data[: bounds[0]]], 0
        for row in (self.kept[1:-1] - 1).tolist():
            pieces += [_memo_numbers(taken[row] - taken[after])]
            pieces += [self.data[bounds[row] : bounds[row + 1]]]
            after = row + 1
        pieces += [_memo_numbers(taken[-1] - taken[after]), self.data[bounds[-1] :]]
        return b"".join(pieces)

    def columns(self, few: Ints) -> Ints:
        """The columns of all entries from those of the kept ones (shape `COLUMNS` × entries)."""
        first = np.concatenate([[0], self.kinds.first + 1, [self.rows - 1]])
        every = few[:, np.searchsorted(self.kept, first)]
        told, values = self._numbers()
        for column, key in enumerate(_KEYS):
            rows = np.flatnonzero(told[:, column])
            every[COLUMNS.index(NUMBERS[key]), rows + 1] = values[rows, column]
        old = np.arange(self.rows) < self.rows - NEWEST_STACKS
        old &= every[COLUMNS.index("state")] == COMPLETED
        every[COLUMNS.index("stack"), old] = -1
        return every

    def _numbers(self) -> tuple[NDArray[np.bool_], Ints]:
        """Whether an entry has a number of its own under each of `_KEYS`, and the number."""
        kinds = [[layout.numbers.get(key) for key in _KEYS] for layout in self.kinds.layouts]
        places = np.array([[_place(number) for number in row] for row in [*kinds, _NO_NUMBERS]])
        offset, shift, mask, floating = places[self.kinds.kind].transpose(2, 0, 1)
        raw = words(self.data + bytes(WORD))[self.starts[:-1, None] + offset]
        values = ((raw << shift) >> shift) & mask
        if floating.any():
            values = np.where(floating, _microseconds(raw), values)
        return mask != 0, values


def without_frames(content: bytes) -> bytes | None:
    """The pickle without the framing of protocols 4 and 5; None where it is framed in part."""
    if content[1] < _FRAMED_FROM:
        return content
    pieces, at = [content[:2]], 2
    while at < len(content):
        end = at + _FRAME_HEAD + int.from_bytes(content[at + 1 : at + _FRAME_HEAD], "little")
        if content[at] != _FRAME or end > len(content):
            return None
        pieces.append(content[at + _FRAME_HEAD : end])
        at = end
    return b"".join(pieces)


def number_keys(memo: Mapping[int, Any]) -> dict[bytes, str]:
    """Reference → key, for the keys in `NUMBERS`."""
    found: dict[bytes, str] = {}
    for number, value in memo.items():
        if isinstance(value, str) and value in NUMBERS:
            found[b"j" + number.to_bytes(4, "little")] = value
            if number < 256:
                found[b"h%c" % number] = value
    return found


def _memo_numbers(count: int) -> bytes:
    """Takes memo numbers that go by order: a value is memoised that often and dropped."""
    return b"N" + b"\x94" * count + b"0" if count else b""


def _place(number: Number | None) -> tuple[int, int, int, int]:
    """(offset, bits above the payload, the bits to keep, is it a double); nothing kept for none."""
    if number is None:
        return 0, 0, 0, 0
    bits = 8 * number.size
    return number.offset, 64 - bits, -1 if number.signed else (1 << bits) - 1, number.floating


def _microseconds(raw: Ints) -> Ints:
    """Big-endian doubles of milliseconds as whole µs; -1 for what is no duration."""
    ms = raw.view(">f8").astype(np.float64)
    told = (ms > 0) & (ms < 1e12)
    return np.where(told, np.where(told, ms, 0) * 1000, -1).astype(np.int64)
