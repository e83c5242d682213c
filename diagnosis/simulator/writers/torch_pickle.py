"""Pickle protocol 2 as PyTorch's C++ `Pickler` writes it (torch/csrc/jit/serialization/pickler.cpp).

It differs from Python's own in what it memoises: every string by value; of the containers only
dictionaries that several places share (stack frames), after their content, and the whole at the end.
"""

import struct
from collections.abc import Mapping
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
        if kind is str:
            self._text(value)
        elif kind is int:
            self._integer(value)
        elif kind is bool:
            self.out += b"\x88" if value else b"\x89"
        elif value is None:
            self.out += b"N"
        elif kind is list:
            self.out += b"]("
            for item in value:
                self.push(item)
            self.out += b"e"
        elif kind is dict:
            self._dictionary(value)
        elif kind is SharedDict:
            self._once(value)
        elif kind is tuple and len(value) == 2:
            self.push(value[0])
            self.push(value[1])
            self.out += b"\x86"
        elif kind is float:
            self.out += b"G" + _DOUBLE.pack(value)
        else:
            raise TypeError(f"Flight Recorder dumps hold no {kind.__name__}")

    def memoise(self) -> bytes:
        """Give what was just written a number; the opcode that refers to it."""
        number, self.count = self.count, self.count + 1
        if number < 256:
            self.out += b"q%c" % number
            return b"h%c" % number
        self.out += b"r" + _SIZE.pack(number)
        return b"j" + _SIZE.pack(number)

    def _text(self, value: str) -> None:
        known = self.strings.get(value)
        if known is not None:
            self.out += known
            return
        encoded = value.encode()
        self.out += b"X" + _SIZE.pack(len(encoded)) + encoded
        self.strings[value] = self.memoise()

    def _integer(self, value: int) -> None:
        if 0 <= value <= 0xFF:
            self.out += b"K%c" % value
        elif 0 <= value <= 0xFFFF:
            self.out += b"M" + _SHORT.pack(value)
        elif -(1 << 31) <= value < 1 << 31:
            self.out += b"J" + _INT.pack(value)
        else:
            self.out += b"\x8a\x08" + _LONG.pack(value)

    def _dictionary(self, value: Mapping[str, Any]) -> None:
        self.out += b"}"
        if value:
            self.out += b"("
            for name, item in value.items():
                self._text(name)
                self.push(item)
            self.out += b"u"

    def _once(self, value: SharedDict) -> None:
        known = self.shared.get(id(value))
        if known is not None:
            self.out += known
            return
        self._dictionary(value)
        self.shared[id(value)] = self.memoise()


def dumps(value: dict[str, Any]) -> bytes:
    """The bytes of a dictionary of plain values: str, int, float, bool, None, list, pair, dict."""
    pickler = _Pickler()
    pickler.push(value)
    pickler.memoise()
    return bytes(pickler.out + b".")
