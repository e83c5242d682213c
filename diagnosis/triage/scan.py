"""From one log to its clues and facts, in one pass and bounded memory."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from diagnosis.core.evidence import Evidence
from diagnosis.readers.logs import Block, Line, Record, last_stamp, read_blocks, record_of, span_at
from diagnosis.readers.logs_c10d import WatchdogReport, watchdog_report
from diagnosis.readers.logs_heads import Head
from diagnosis.readers.logs_times import Clock, Stamp
from diagnosis.readers.origin import Origin, origin_of
from diagnosis.taxonomy.matcher import Match, Matcher
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.taxonomy.signature import Stream
from diagnosis.taxonomy.suppression import Suppression
from diagnosis.triage.clues import TEXT_LENGTH, Clue, Moment
from diagnosis.triage.places import Place, address_of, gpu_name, nic_of, pci_in

#: Different clues that one log may give; a log with more is a flood whose start is enough.
MAX_CLUES = 5000

#: Lines that tell facts: which rank runs where, which address is whose, when the host booted.
FACT_PATTERNS = (
    r"NCCL INFO comm \S+ rank \d+ nranks \d+",
    r"(?:Bootstrap : Using|OOB) [^\s:]+:\d+\.\d+\.\d+\.\d+",
    r"setting system clock to \S+ UTC \(\d+\)",
    r"^  (?:host|rank|exitcode)\s+: ",
)
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


@dataclass(frozen=True)
class Scan:
    """One log's clues, in order of their first lines, and its facts."""

    evidence: Evidence
    origin: Origin
    clues: tuple[Clue, ...]
    facts: Facts


def matcher_for(taxonomy: Taxonomy) -> Matcher:
    """The taxonomy's matcher, which also stops at the lines that tell facts."""
    return taxonomy.matcher_with(FACT_PATTERNS)


def scan(
    evidence: Evidence,
    matcher: Matcher,
    suppression: Suppression = Suppression(),  # noqa: B008 - frozen
) -> Scan:
    """Read one log. Raises only what its stream raises (`OSError`, `EOFError`)."""
    reading = _Reading(evidence, suppression)
    with evidence.open() as stream:
        for block in read_blocks(stream):
            reading.take(block, matcher)
    return Scan(evidence, reading.origin, tuple(reading.clues.values()), reading.facts)


class _Reading:
    """The state of one pass over one log."""

    def __init__(self, evidence: Evidence, suppression: Suppression) -> None:
        self.evidence = evidence
        self.suppression = suppression
        self.origin = origin_of(evidence)
        self.facts = Facts()
        self.clues: dict[tuple[object, ...], Clue] = {}
        self.known: Stamp | None = None
        self.summary: dict[str, str] = {}

    def take(self, block: Block, matcher: Matcher) -> None:
        if not self.facts.stamps:
            self._note_first(block)
        for start in matcher.candidates(block.text):
            index = block.index_at(start)
            line = block.line(index)
            self._take_fact(line.text, line.head)
            match = matcher.best(line.text.encode(), line.message.encode())
            if match is not None:
                self._take_match(block, index, match)
        self.known = last_stamp(block) or self.known
        self.facts.last = self.known
        self.facts.lines += len(block)

    def _note_first(self, block: Block) -> None:
        for index in range(min(len(block), 50)):
            head = block.line(index).head
            if head.stamp is not None:
                self.facts.stamps.append(head.stamp)
                return

    def _take_match(self, block: Block, index: int, match: Match) -> None:
        """Count the line to the clue it repeats, or make a clue of its record."""
        line = block.line(index)
        report = watchdog_report(line.text) if match.signature.code.startswith("c10d") else None
        ignored_by = self.suppression.rules_on(line.text.encode())
        key = (*self._key(match, line, report), ignored_by)
        if key in self.clues:
            moment = self._moment(line.head.stamp, None, line.head)
            self.clues[key] = self.clues[key].repeated(moment)
            return
        if len(self.clues) >= MAX_CLUES:
            return
        record = record_of(self.evidence.name, block, span_at(block, index), self.known)
        head = line.head if line.head.prefixes else record.head
        place = self._place(match, head, record.text)
        self._note(place, head)
        whole = watchdog_report(record.text) if match.signature.code.startswith("c10d") else None
        self.clues[key] = Clue(
            signature=match.signature,
            place=place,
            evidence=self.evidence.name,
            line=block.number(index),
            offset=block.offset(index),
            lines=record.lines,
            text=line.text.strip()[:TEXT_LENGTH],
            context=record.text,
            parts=tuple(sorted(match.parts.items())),
            moment=self._moment(line.head.stamp, record, head),
            job=self.origin.job,
            report=whole,
            ignored_by=ignored_by,
        )

    def _key(self, match: Match, line: Line, report: WatchdogReport | None) -> tuple[object, ...]:
        """Equal for lines that say the same of the same place.

        A line without any prefix says nothing of its place, so its whole text counts.
        """
        place = self._place(match, line.head, "")
        said = (match.signature.code, place.key, match.parts.get("detail"), match.parts.get("sig"))
        return (*said, report) if line.head.prefixes else (*said, line.text)

    def _moment(self, stamp: Stamp | None, record: Record | None, head: Head) -> Moment | None:
        if stamp is None and record is not None and record.time is not None:
            stamp = Stamp(record.time, record.clock)
        if stamp is None:
            return None
        time, clock = stamp.time, stamp.clock
        if clock is Clock.UPTIME:
            where = head.spoken_host or self.origin.host or self.evidence.name
            return Moment(time, f"uptime {where}")
        scale = "yearless" if clock is Clock.YEAR_UNKNOWN else "utc"
        return Moment(time, scale, zoned=clock is Clock.ZONED)

    def _place(self, match: Match, head: Head, text: str) -> Place:
        parts = match.parts
        stream = match.signature.stream
        host = parts.get("host") or (None if stream is Stream.SCHEDULER else self._host(head))
        peer = parts.get("peer")
        return Place(
            host=host,
            rank=self._rank(parts, head),
            gpu=gpu_name(parts.get("pci") or parts.get("gpu")) or _gpu_in(match, text),
            nic=nic_of(parts.get("dev")),
            link=parts.get("link"),
            peer=address_of(peer) if peer else None,
        )

    def _host(self, head: Head) -> str | None:
        return head.spoken_host or self.origin.host

    def _rank(self, parts: Mapping[str, str], head: Head) -> int | None:
        if parts.get("rank", "").isdigit():
            return int(parts["rank"])
        rank = rank_of(head)
        return self.origin.rank if rank is None else rank

    def _note(self, place: Place, head: Head) -> None:
        rank = rank_of(head)
        if rank is not None:
            self.facts.ranks.add(rank)
            if head.spoken_host:
                self.facts.comm_ranks.setdefault((1 << 30, rank), head.spoken_host)
        if head.spoken_host:
            self.facts.hosts.add(head.spoken_host)

    def _take_fact(self, text: str, head: Head) -> None:
        found = _COMM.search(text)
        if found and head.host:
            self.facts.comm_ranks[(int(found[2]), int(found[1]))] = head.host
        found = _ADDRESS.search(text)
        if found and head.host:
            self.facts.addresses[found[1]] = head.host
        found = _BOOT.search(text)
        if found and head.stamp is not None and head.stamp.clock is Clock.UPTIME:
            self.facts.boot = float(found[1]) - head.stamp.time
        found = _SUMMARY.search(text)
        if found:
            self._take_summary(found[1], found[2])

    def _take_summary(self, name: str, value: str) -> None:
        """torchrun's block of `host`, `rank` and `exitcode` lines, one failure after another."""
        if name == "host":
            self.summary = {}
        self.summary[name] = value
        rank = self.summary.get("rank", "")
        if name == "exitcode" and rank.isdigit():
            self.facts.ended[int(rank)] = f"torchrun reports exit code {value}"
            if self.summary.get("host"):
                self.facts.comm_ranks[(1 << 30, int(rank))] = self.summary["host"]


def rank_of(head: Head) -> int | None:
    """The global rank that a line's prefixes tell; c10d's group rank only where it is global."""
    if head.rank is not None:
        return head.rank
    if head.group_rank is not None and head.default_group is not False:
        return head.group_rank
    return head.task


def _gpu_in(match: Match, text: str) -> str | None:
    """A GPU's address elsewhere in a kernel record that is about a GPU."""
    signature = match.signature
    if signature.stream is Stream.KERNEL and signature.component == "gpu":
        return pci_in(text)
    return None
