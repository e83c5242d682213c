"""Slurm's hostlist syntax: `gpu[001-004,007],login1` (slurm.schedmd.com, "hostlist")."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator

#: More hosts than any job has; a typing error must not fill the memory.
MAX_HOSTS = 100_000

_RANGE = re.compile(r"(?P<low>\d{1,18})(?:-(?P<high>\d{1,18}))?", re.ASCII)


class HostlistError(ValueError):
    """A list of hosts that is not in hostlist syntax. The message shows what is wrong."""


def expand(hostlist: str) -> list[str]:
    """Every host of the list, in its order. Raises `HostlistError`.

    Several brackets in one name multiply, the last one varying fastest; numbers keep the width of
    the range's lower end.
    """
    hosts: list[str] = []
    for word in _words(hostlist):
        parts = [_numbers(part) if bracket else [part] for bracket, part in _parts(word)]
        if len(hosts) + math.prod(map(len, parts)) > MAX_HOSTS:
            raise HostlistError(f"more than {MAX_HOSTS} hosts in {hostlist[:60]!r}")
        hosts += map("".join, itertools.product(*parts))
    return hosts


def _words(hostlist: str) -> Iterator[str]:
    """The parts between commas that stand outside of brackets."""
    word, inside = "", False
    for character in hostlist.strip():
        if character in "[]":
            if inside == (character == "["):
                raise HostlistError(f"brackets do not match in {hostlist[:60]!r}")
            inside = not inside
        if character == "," and not inside:
            yield _checked(word, hostlist)
            word = ""
        else:
            word += character
    if inside:
        raise HostlistError(f"a bracket is not closed in {hostlist[:60]!r}")
    yield _checked(word, hostlist)


def _checked(word: str, hostlist: str) -> str:
    word = word.strip()
    if not word or any(character.isspace() for character in word):
        raise HostlistError(f"a name is empty or holds a space in {hostlist[:60]!r}")
    return word


def _parts(word: str) -> Iterator[tuple[bool, str]]:
    """The word cut at its brackets: (was it inside of brackets, text)."""
    for number, part in enumerate(re.split(r"[\[\]]", word)):
        yield number % 2 == 1, part


def _numbers(ranges: str) -> list[str]:
    numbers: list[str] = []
    for part in ranges.split(","):
        found = _RANGE.fullmatch(part)
        if found is None:
            raise HostlistError(f"{part[:60]!r} is no range of numbers")
        low, high = found["low"], found["high"] or found["low"]
        count = int(high) - int(low) + 1
        if count < 1:
            raise HostlistError(f"{part!r} runs backwards")
        if len(numbers) + count > MAX_HOSTS:
            raise HostlistError(f"more than {MAX_HOSTS} hosts in {part!r}")
        numbers += [str(number).zfill(len(low)) for number in range(int(low), int(high) + 1)]
    return numbers
