"""How one entry of a pickled Flight Recorder dump is laid out in bytes, and what of it may differ.

Runs in the child process. Only opcodes that plain values need are known; any other leaves the
entry to the unpickler.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

#: Entries are compared eight bytes at a time.
WORD = 8
#: Layouts that are remembered from dump to dump.
KNOWN_MAX = 4096

_SIMPLE = dict.fromkeys(b"}(useat])\x85\x86\x87N\x88\x89\x94", 1)
_REFERENCES = {ord("h"): 2, ord("j"): 5}
_MEMO_NUMBERS = {ord("q"): 2, ord("r"): 5}
_WHOLE = {ord("K"): 2, ord("M"): 3, ord("J"): 5}
_DOUBLES = {ord("G"): 9}
_SIZES = _SIMPLE | _REFERENCES | _MEMO_NUMBERS | _WHOLE | _DOUBLES
_SIGNED, _DOUBLE, _LONG, _TEXT, _SHORT_TEXT, _MEMOIZE = b"JG\x8aX\x8c\x94"


@dataclass(frozen=True, slots=True)
class Number:
    """A number's payload in the entries of a kind, from the entry's start."""

    offset: int
    size: int
    signed: bool = True
    floating: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """`fixed` has a 0 bit wherever entries of one kind may differ (the entry filled up to whole
    words); `memoised` counts the memo numbers that the entry takes by order."""

    fixed: NDArray[np.uint64]
    numbers: Mapping[str, Number]
    memoised: int


class Layouts:
    """The layouts of entries, remembered: the same code leaves the same ones in every dump.

    Entries that agree in all opcodes, lengths of texts and references to number keys are laid out
    alike, so these bytes are all that is looked at for an entry whose layout is known.
    """

    def __init__(self) -> None:
        self._known: dict[int, list[tuple[Callable[[bytes], object], object, Layout]]] = {}
        self._count = 0

    def of(self, entry: bytes, keys: Mapping[bytes, str]) -> Layout | None:
        """The entry's layout; `keys` are the references to the keys whose numbers may differ.

        None where the entry holds more than plain values or does not end where it should.
        """
        for structure_of, structure, known in self._known.get(len(entry), ()):
            if structure_of(entry) == structure:
                return known
        read = _Reading(entry, keys)
        layout = read.layout()
        if layout is not None:
            if self._count == KNOWN_MAX:
                self._known, self._count = {}, 0
            structure_of = itemgetter(*read.structure)
            remembered = (structure_of, structure_of(entry), layout)
            self._known.setdefault(len(entry), []).append(remembered)
            self._count += 1
        return layout


class _Reading:
    """One entry, token by token. `structure` are the places of the bytes that lay it out."""

    def __init__(self, entry: bytes, keys: Mapping[bytes, str]) -> None:
        self.entry, self.keys = entry, keys
        self.structure: list[int] = []
        self.fixed = bytearray(b"\xff" * len(entry) + bytes(-len(entry) % WORD))
        self.numbers: dict[str, Number] = {}

    def layout(self) -> Layout | None:
        entry, at, memoised = self.entry, 0, 0
        key: str | None = None
        while at < len(entry):
            code, size = entry[at], self._size(at)
            if not size:
                return None
            if code in _MEMO_NUMBERS:
                self._free(at + 1, size - 1)
            elif key is not None and (found := self._number(at, size)):
                self.numbers[key] = found
                self._free(found.offset, found.size)
            memoised += code == _MEMOIZE
            key = self.keys.get(entry[at : at + size]) if code in _REFERENCES else None
            self.structure += range(at, at + size) if key else [at]
            at += size
        if at != len(entry):
            return None
        return Layout(np.frombuffer(self.fixed, np.uint64), self.numbers, memoised)

    def _size(self, at: int) -> int:
        """Bytes of the opcode at this place with its argument; 0 for one that is not known."""
        code = self.entry[at]
        if code in _SIZES:
            return _SIZES[code]
        length_bytes = {_LONG: 1, _SHORT_TEXT: 1, _TEXT: 4}.get(code)
        if length_bytes is None or at + length_bytes >= len(self.entry):
            return 0
        end = at + 1 + length_bytes
        self.structure += range(at + 1, end)
        return end - at + int.from_bytes(self.entry[at + 1 : end], "little")

    def _number(self, at: int, size: int) -> Number | None:
        """The number at this place, where it fits in 64 bits."""
        code = self.entry[at]
        if code in _WHOLE:
            return Number(at + 1, size - 1, signed=code == _SIGNED)
        if code == _DOUBLE:
            return Number(at + 1, WORD, floating=True)
        if code == _LONG and 2 < size <= 2 + WORD:
            return Number(at + 2, size - 2)
        return None

    def _free(self, at: int, size: int) -> None:
        self.fixed[at : at + size] = bytes(size)
