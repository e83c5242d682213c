"""The kinds of entries in a pickled Flight Recorder dump: which are alike but for a few numbers.

Runs in the child process, on bytes alone: nothing is unpickled here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from diagnosis.readers.flight_recorder_layout import WORD, Layout, Layouts

Ints = NDArray[np.int64]

#: With more kinds, or fewer than four entries to each, learning costs more than it saves.
KINDS_MAX = 512
SHARE_MAX = 0.25
#: Learning is given up when the dump's bytes were compared so many times over.
PASSES_MAX = 24
ALONE = -1
_DICT, _MARK = b"}("


def _by_opcode(sizes: Mapping[bytes, int]) -> Ints:
    table = np.zeros(256, np.int64)
    for opcode, size in sizes.items():
        table[ord(opcode)] = size
    return table


_PUT_SIZES = _by_opcode({b"q": 2, b"r": 5, b"\x94": 1})
_GET_SIZES = _by_opcode({b"h": 2, b"j": 5})


@dataclass
class Kinds:
    """Per entry: the first of its kind (maybe itself), and the number of the kind's layout, or
    `ALONE` for an entry that has a length of its own."""

    first: Ints
    kind: Ints
    layouts: list[Layout] = field(default_factory=list)
    compared: int = 0

    def is_first(self) -> NDArray[np.bool_]:
        """Which entries are the first of their kind."""
        first: NDArray[np.bool_] = self.first == np.arange(len(self.first))
        return first


def words(data: bytes) -> Ints:
    """The eight bytes from each place on, as one number."""
    return np.ndarray(len(data) - WORD + 1, "<i8", data, strides=(1,))


def entry_starts(data: bytes) -> Ints:
    """Where entries begin, but for the first, which spells out its keys: dictionaries that begin
    with a reference to the key that most begin with."""
    octets = np.frombuffer(data, np.uint8)
    starts = np.flatnonzero(octets[: -2 * WORD] == _DICT)
    marks = starts + 1 + _PUT_SIZES[octets[starts + 1]]
    marked = octets[marks] == _MARK
    starts, marks = starts[marked], marks[marked]
    sizes = _GET_SIZES[octets[marks + 1]]
    keys = words(data)[marks + 1] & ((1 << 8 * sizes) - 1)
    known, count = np.unique(keys, return_counts=True)
    usual: Ints = starts[keys == known[count.argmax()]] if len(known) else starts
    return usual


def learn(data: bytes, starts: Ints, keys: Mapping[bytes, str], layouts: Layouts) -> Kinds | None:
    """The kinds of all entries but the last, whose end is not known; None where they are too many.

    `keys` are the references to the keys whose numbers may differ.
    """
    lengths = np.diff(starts)
    kinds = Kinds(np.arange(len(lengths)), np.full(len(lengths), ALONE))
    order = np.argsort(lengths, kind="stable")
    changes = np.flatnonzero(np.diff(lengths[order])) + 1
    learning = _Learning(data, starts, keys, layouts, kinds)
    for rows in np.split(order, changes):
        if len(rows) > 1 and not learning.sort(rows):
            return None
    return kinds if kinds.is_first().sum() <= SHARE_MAX * len(lengths) else None


@dataclass(frozen=True, slots=True)
class _Learning:
    data: bytes
    starts: Ints
    keys: Mapping[bytes, str]
    layouts: Layouts
    kinds: Kinds

    def sort(self, rows: Ints) -> bool:
        """Sort rows of one length into kinds; False when it is no use to go on."""
        kinds, block = self.kinds, self._block(rows)
        while len(rows):
            row = int(rows[0])
            kinds.compared += block.nbytes
            if len(kinds.layouts) == KINDS_MAX or kinds.compared > PASSES_MAX * len(self.data):
                return False
            layout = self.layouts.of(self.data[self.starts[row] : self.starts[row + 1]], self.keys)
            if layout is None:
                return False
            other = ((block ^ block[0]) & layout.fixed).any(axis=1)
            kinds.first[rows[~other]] = row
            kinds.kind[rows[~other]] = len(kinds.layouts)
            kinds.layouts.append(layout)
            rows, block = rows[other], block[other]
        return True

    def _block(self, rows: Ints) -> NDArray[np.uint64]:
        """The bytes of entries of one length, one row each, filled up with what follows."""
        length = int(self.starts[rows[0] + 1] - self.starts[rows[0]])
        width = -(-length // WORD)
        windows: NDArray[np.uint64] = np.ndarray(
            (len(self.data) - WORD * width + 1, width), "<u8", self.data, strides=(1, WORD)
        )
        return windows[self.starts[rows]]
