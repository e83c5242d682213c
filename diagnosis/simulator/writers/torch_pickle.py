"""Pickle protocol 2 as PyTorch's C++ `Pickler` writes it (jit/serialization/pickler.cpp).

It differs from Python's own in what it memoises: every string by value; of the containers only
dictionaries that several places share (stack frames), after their content, and the whole last.
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any

_INT = struct.Struct("<i")
_SIZE = struct.Struct("<I")
_LONG = struct.Struct("<q")
_DOUBLE = struct.Struct(">d")
_SHORT = struct.Struct("<H")


class SharedDict(dict[str, Any]):
    """A dictionary that is written once and referred to from then on."""


class _Pickler:
    def __init__(self) -> None:
        self.out = bytearray(b"\x80\x02")
        self.strings: dict[str, bytes] = {}
        self.shared: dict[int, bytes] = {}
        self.count = 0

    def push(self, value: Any) -> None:
        kind = type(value)
        write = _WRITERS.get(kind)
        if write is None:
            raise TypeError(f"Flight Recorder dumps hold no {kind.__name__}")
        write(self, value)

    def constant(self, value: bool | None) -> None:
        self.out += b"N" if value is None else b"\x88" if value else b"\x89"

    def double(self, value: float) -> None:
        self.out += b"G" + _DOUBLE.pack(value)

    def sequence(self, values: list[Any]) -> None:
        self.out += b"]("
        for item in values:
            self.push(item)
        self.out += b"e"

    def pair(self, values: tuple[Any, Any]) -> None:
        first, second = values
        self.push(first)
        self.push(second)
        self.out += b"\x86"

    def memoise(self) -> bytes:
        """Give what was just written a number; the opcode that refers to it."""
        number, self.count = self.count, self.count + 1
        if number < 256:
            self.out += b"q%c" % number
            return b"h%c" % number
        self.out += b"r" + _SIZE.pack(number)
        return b"j" + _SIZE.pack(number)

    def text(self, value: str) -> None:
        known = self.strings.get(value)
        if known is not None:
            self.out += known
            return
        encoded = value.encode()
        self.out += b"X" + _SIZE.pack(len(encoded)) + encoded
        self.strings[value] = self.memoise()

    def integer(self, value: int) -> None:
        if 0 <= value <= 0xFF:
            self.out += b"K%c" % value
        elif 0 <= value <= 0xFFFF:
            self.out += b"M" + _SHORT.pack(value)
        elif -(1 << 31) <= value < 1 << 31:
            self.out += b"J" + _INT.pack(value)
        else:
            self.out += b"\x8a\x08" + _LONG.pack(value)

    def dictionary(self, value: Mapping[str, Any]) -> None:
        self.out += b"}"
        if value:
            self.out += b"("
            for name, item in value.items():
                self.text(name)
                self.push(item)
            self.out += b"u"

    def once(self, value: SharedDict) -> None:
        known = self.shared.get(id(value))
        if known is not None:
            self.out += known
            return
        self.dictionary(value)
        self.shared[id(value)] = self.memoise()


_WRITERS: dict[type, Callable[[_Pickler, Any], None]] = {
    str: _Pickler.text,
    int: _Pickler.integer,
    bool: _Pickler.constant,
    type(None): _Pickler.constant,
    list: _Pickler.sequence,
    dict: _Pickler.dictionary,
    SharedDict: _Pickler.once,
    tuple: _Pickler.pair,
    float: _Pickler.double,
}


def dumps(value: dict[str, Any]) -> bytes:
    """The bytes of a dictionary of plain values: str, int, float, bool, None, list, pair, dict."""
    pickler = _Pickler()
    pickler.push(value)
    pickler.memoise()
    return bytes(pickler.out + b".")
