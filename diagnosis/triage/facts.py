"""Facts: what a log tells besides faults, such as which rank runs where."""

import re
from dataclasses import dataclass, field

from diagnosis.core.devices import pci_address
from diagnosis.readers.logs_heads import Head
from diagnosis.readers.logs_times import Clock, Stamp

#: Lines that tell facts: which rank runs where, which address is whose, when the host booted.
FACT_PATTERNS = (
    r"NCCL INFO comm \S+ rank \d+ nranks \d+",
    r"(?:Bootstrap : Using|OOB) [^\s:]+:\d+\.\d+\.\d+\.\d+",
    r"setting system clock to \S+ UTC \(\d+\)",
    r"^  (?:host|rank|exitcode)\s+: ",
    r"NVRM: GPU at PCI:[0-9a-fA-F:.]+: GPU-[0-9a-fA-F]",
    r"NVRM: GPU [0-9a-fA-F:.]+: GPU serial number is ",
)
_WORDS = (
    " nranks ", "Bootstrap : Using", "OOB ", "setting system clock", " : ", ": GPU-",
    "GPU serial number",
)  # fmt: skip
#: Stands for a communicator's size where a line of the rank itself names its host.
SPOKEN = 1 << 30

_COMM = re.compile(r"comm \S+ rank (\d+) nranks (\d+)")
_ADDRESS = re.compile(r"(?:Bootstrap : Using|OOB) [^\s:]+:(\d+\.\d+\.\d+\.\d+)")
_BOOT = re.compile(r"setting system clock to \S+ UTC \((\d+)\)")
_GPU = re.compile(r"NVRM: GPU at PCI:([0-9a-fA-F:.]+): (GPU-[0-9a-fA-F-]+)")
#: A board that was never given a number tells zeros.
_SERIAL = re.compile(r"NVRM: GPU ([0-9a-fA-F:.]+): GPU serial number is (?!0+\b)(\w+)")
_COMM_BYTES = re.compile(_COMM.pattern.encode())
_ADDRESS_BYTES = re.compile(_ADDRESS.pattern.encode())
#: Lines that must be looked at whatever else they tell.
_SUMMARY_BYTES = re.compile(rb"setting system clock|(?:host|rank|exitcode)\s+: ")
_SUMMARY = re.compile(r"^\s+(host|rank|exitcode)\s+: (\S+)(?: \(local_rank: (\d+)\))?")


@dataclass
class Facts:
    """What a log tells besides faults.

    `comm_ranks`: (communicator size, rank) → host; `addresses`: IP → host; `boot`: epoch seconds
    of the host's boot; `ended`: rank → why it is known to be gone; `local_ranks`: rank → its
    number on its host; `gpus`: (host, PCI address) → UUID, as kernels tell it before a GPU's first
    error; "" for the log's own host; `serials`: the same → serial number. `shortened`: lines that
    may tell something and of which only the beginning and the end were read.
    """

    comm_ranks: dict[tuple[int, int], str] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    boot: float | None = None
    ended: dict[int, str] = field(default_factory=dict)
    local_ranks: dict[int, int] = field(default_factory=dict)
    hosts: set[str] = field(default_factory=set)
    ranks: set[int] = field(default_factory=set)
    last: Stamp | None = None
    stamps: list[Stamp] = field(default_factory=list)
    lines: int = 0
    shortened: int = 0
    gpus: dict[tuple[str, str], str] = field(default_factory=dict)
    serials: dict[tuple[str, str], str] = field(default_factory=dict)

    def note_speaker(self, host: str | None, rank: int | None) -> None:
        """Somebody speaks in the log."""
        if rank is not None:
            self.ranks.add(rank)
            if host:
                self.comm_ranks.setdefault((SPOKEN, rank), host)
        if host:
            self.hosts.add(host)


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
        found = _GPU.search(text)
        if found:
            self._facts.gpus[head.spoken_host or "", pci_address(found[1])] = found[2]
        found = _SERIAL.search(text)
        if found:
            self._facts.serials[head.spoken_host or "", pci_address(found[1])] = found[2]
        found = _SUMMARY.search(text)
        if found:
            if found[3] and found[2].isdigit():
                self._facts.local_ranks[int(found[2])] = int(found[3])
            self._take_summary(found[1], found[2])

    def take_plain(self, line: bytes, host: str) -> bool:
        """The same for a line of `host`; False where its head has to be known as well."""
        comm, address = _COMM_BYTES.search(line), _ADDRESS_BYTES.search(line)
        if not (comm or address) or _SUMMARY_BYTES.search(line):
            return False
        if comm:
            self._facts.comm_ranks[(int(comm[2]), int(comm[1]))] = host
        if address:
            self._facts.addresses[address[1].decode()] = host
        return True

    def _take_summary(self, name: str, value: str) -> None:
        """torchrun's block of `host`, `rank` and `exitcode` lines, one failure after another."""
        if name == "host":
            self._summary = {}
        self._summary[name] = value
        rank = self._summary.get("rank", "")
        if name == "exitcode" and rank.isdigit():
            self._facts.ended[int(rank)] = f"torchrun reports exit code {value}"
            if self._summary.get("host"):
                self._facts.comm_ranks[(SPOKEN, int(rank))] = self._summary["host"]
