"""Facts: what a log tells besides faults, such as which rank runs where."""

import re
from dataclasses import dataclass, field

from diagnosis.readers.logs_heads import Head
from diagnosis.readers.logs_times import Clock, Stamp

#: Lines that tell facts: which rank runs where, which address is whose, when the host booted.
FACT_PATTERNS = (
    r"NCCL INFO comm \S+ rank \d+ nranks \d+",
    r"(?:Bootstrap : Using|OOB) [^\s:]+:\d+\.\d+\.\d+\.\d+",
    r"setting system clock to \S+ UTC \(\d+\)",
    r"^  (?:host|rank|exitcode)\s+: ",
)
_WORDS = (" nranks ", "Bootstrap : Using", "OOB ", "setting system clock", " : ")
_COMM = re.compile(r"comm \S+ rank (\d+) nranks (\d+)")
_ADDRESS = re.compile(r"(?:Bootstrap : Using|OOB) [^\s:]+:(\d+\.\d+\.\d+\.\d+)")
_BOOT = re.compile(r"setting system clock to \S+ UTC \((\d+)\)")
_SUMMARY = re.compile(r"^\s+(host|rank|exitcode)\s+: (\S+)")


@dataclass
class Facts:
    """What a log tells besides faults.

    `comm_ranks`: (communicator size, rank) → host; `addresses`: IP → host; `boot`: epoch seconds
    of the host's boot; `ended`: rank → why it is known to be gone.
    """

    comm_ranks: dict[tuple[int, int], str] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    boot: float | None = None
    ended: dict[int, str] = field(default_factory=dict)
    hosts: set[str] = field(default_factory=set)
    ranks: set[int] = field(default_factory=set)
    last: Stamp | None = None
    stamps: list[Stamp] = field(default_factory=list)
    lines: int = 0


def speaks_of_facts(text: str) -> bool:
    """May this line tell a fact?"""
    return any(word in text for word in _WORDS)


class FactReader:
    """Takes the facts from the lines that `FACT_PATTERNS` name, given in order."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._summary: dict[str, str] = {}

    def take(self, text: str, head: Head) -> None:
        """What this line tells goes into the facts."""
        found = _COMM.search(text)
        if found and head.host:
            self._facts.comm_ranks[(int(found[2]), int(found[1]))] = head.host
        found = _ADDRESS.search(text)
        if found and head.host:
            self._facts.addresses[found[1]] = head.host
        found = _BOOT.search(text)
        if found and head.stamp is not None and head.stamp.clock is Clock.UPTIME:
            self._facts.boot = float(found[1]) - head.stamp.time
        found = _SUMMARY.search(text)
        if found:
            self._take_summary(found[1], found[2])

    def _take_summary(self, name: str, value: str) -> None:
        """torchrun's block of `host`, `rank` and `exitcode` lines, one failure after another."""
        if name == "host":
            self._summary = {}
        self._summary[name] = value
        rank = self._summary.get("rank", "")
        if name == "exitcode" and rank.isdigit():
            self._facts.ended[int(rank)] = f"torchrun reports exit code {value}"
            if self._summary.get("host"):
                self._facts.comm_ranks[(1 << 30, int(rank))] = self._summary["host"]
