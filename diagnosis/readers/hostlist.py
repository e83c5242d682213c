"""Host lists as Slurm, pdsh and ClusterShell fold them: `node-[001-003,7],login1`."""

import re
from collections.abc import Iterator
from itertools import islice, product

#: More hosts than this in one list are no list of hosts.
MAX_HOSTS = 4096

_NAME = re.compile(r"(?:[A-Za-z0-9_.-]|\[[0-9,-]+\])+")
_PARTS = re.compile(r"\[([0-9,-]+)\]|([^\[\]]+)")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def expanded(text: str) -> tuple[str, ...]:
    """The hosts of a folded list in their order; nothing where the text is none."""
    hosts: list[str] = []
    for name in _names(text):
        if not _NAME.fullmatch(name):
            return ()
        choices = [
            list(_numbers(numbers)) if numbers else [words]
            for numbers, words in _PARTS.findall(name)
        ]
        hosts += islice(map("".join, product(*choices)), MAX_HOSTS + 1)
        if not all(choices) or len(hosts) > MAX_HOSTS:
            return ()
    return tuple(hosts)


def _names(text: str) -> list[str]:
    """The list cut at the commas that stand outside of brackets."""
    return re.split(r",(?![^\[\]]*\])", text)


def _numbers(text: str) -> Iterator[str]:
    """The numbers of `001-003,7` with their leading zeros; none where it is no such list."""
    found = [_RANGE.fullmatch(one) for one in text.split(",")]
    spans = [(one[1], one[2] or one[1]) for one in found if one]
    if len(spans) < len(found) or sum(_size(*span) for span in spans) > MAX_HOSTS:
        return
    for low, high in spans:
        for number in range(int(low), int(high) + 1):
            yield str(number).zfill(len(low))


def _size(low: str, high: str) -> int:
    return int(high) - int(low) + 1
