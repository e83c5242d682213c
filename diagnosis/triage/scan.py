"""From one log to its clues and facts, in one pass and bounded memory."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from diagnosis.core.collective_reports import CollectiveReports
from diagnosis.core.evidence import Evidence
from diagnosis.readers.collective_reports import PATTERNS as REPORT_PATTERNS
from diagnosis.readers.collective_reports import ReportReader
from diagnosis.readers.logs import (
    Block,
    Line,
    Record,
    last_stamp,
    parsed_line,
    read_blocks,
    record_of,
    span_at,
)
from diagnosis.readers.logs_c10d import WatchdogReport, watchdog_report
from diagnosis.readers.logs_heads import Head
from diagnosis.readers.logs_times import Clock, Stamp
from diagnosis.readers.origin import Origin, origin_of
from diagnosis.taxonomy.matcher import Match, Matcher
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.taxonomy.signature import Stream
from diagnosis.taxonomy.suppression import Suppression
from diagnosis.triage.clues import TEXT_LENGTH, Clue, Moment
from diagnosis.triage.facts import FACT_PATTERNS, FactReader, Facts, speaks_of_facts
from diagnosis.triage.places import Place, address_of, gpu_name, nic_of, pci_in
from diagnosis.triage.repeats import MAX_REMEMBERED, Repeats, Said, Saying, Tally

#: From this many bytes on, building the quicker scanner (half a second) pays for itself.
NATIVE_FROM_BYTES = 64 * 1024**2

#: Different clues that one log may give; a log with more is a flood whose start is enough.
MAX_CLUES = 5000

#: Different clues of one signature at one place; further lines count to the first of them.
MAX_VARIANTS = 100

#: Clues of one signature whose whole records are kept; later ones keep their own line.
MAX_RECORDS = 16


@dataclass(frozen=True)
class Scan:
    """One log's clues, in order of their first lines, its facts, and its collective reports."""

    evidence: Evidence
    origin: Origin
    clues: tuple[Clue, ...]
    facts: Facts
    reports: CollectiveReports


def matcher_for(taxonomy: Taxonomy, size: int = 0) -> Matcher:
    """The taxonomy's matcher, which also stops at lines that tell facts or speak of collectives.

    `size`: bytes that will be scanned; a large amount pays for the quicker scanner.
    """
    return taxonomy.matcher_with(
        (*FACT_PATTERNS, *REPORT_PATTERNS), native=size >= NATIVE_FROM_BYTES
    )


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
    return Scan(
        evidence, reading.origin, reading.all_clues(), reading.facts, reading.reports.finish()
    )


class _Reading:
    """The state of one pass over one log."""

    def __init__(self, evidence: Evidence, suppression: Suppression) -> None:
        self.evidence = evidence
        self.suppression = suppression
        self.origin = origin_of(evidence)
        self.facts = Facts()
        self.reports = ReportReader(evidence)
        self.clues: dict[tuple[object, ...], Clue] = {}
        self.tallies: dict[tuple[object, ...], Tally] = {}
        self.variants: dict[tuple[object, ...], list[tuple[object, ...]]] = {}
        self.records: Counter[str] = Counter()
        self.place_keys: dict[tuple[object, ...], tuple[object, ...]] = {}
        self.repeats = Repeats()
        self.fact_reader = FactReader(self.facts)
        self.known: Stamp | None = None

    def take(self, block: Block, matcher: Matcher) -> None:
        if not self.facts.stamps:
            self._note_first(block)
        for start, possible in matcher.hits(block.text):
            raw = block.bytes_at(start)
            said = self.repeats.said(raw)
            if block.heads is None and (
                self.repeats.counted(said, raw) or self._counted_as_known(said, raw)
            ):
                continue
            line = block.line_at(start)
            same = possible if line.data == raw else None
            extras = matcher.speaks_of_extras(same)
            told = extras is not False and self._told(block, start, line)
            match = matcher.best(line.data, line.message_data, same)
            tally = self._take_match(block, start, match) if match is not None else None
            if not told and block.heads is None:
                self.repeats.remember(said, tally)
                if match is not None and said[1] is not None:
                    self._learn(said, line, match, matcher.best(line.message_data, None, same))
        self.known = last_stamp(block) or self.known
        self.facts.last = self.known
        self.facts.lines += block.lines_of_file

    def _counted_as_known(self, said: Said, raw: bytes) -> bool:
        """Count a line whose words another rank said before; False where it must be judged."""
        saying = self.repeats.saying(said)
        if saying is None:
            return False
        head = saying.head._replace(rank=said[1])
        key = self._key(saying.match, head, saying.report, self.suppression.rules_on(raw))
        tally = self.tallies.get(key)
        if tally is None and len(self.clues) < MAX_CLUES:
            return False
        self.repeats.remember(said, tally)
        if tally is not None:
            tally.count += 1
            tally.last = raw
        return True

    def _learn(self, said: Said, line: Line, match: Match, without: Match | None) -> None:
        """Lines of these words mean this whichever rank speaks, if its prefix had no part in it."""
        if line.head.rank == said[1] and without == match:
            self.repeats.learn(said, Saying(match, line.head, _report_in(match, line.text)))

    def all_clues(self) -> tuple[Clue, ...]:
        """The clues with their counts and last times."""
        return tuple(
            replace(clue, count=self.tallies[key].count, last=self._last(self.tallies[key]))
            for key, clue in self.clues.items()
        )

    def _last(self, tally: Tally) -> Moment | None:
        head = tally.last if isinstance(tally.last, Head) else None
        if isinstance(tally.last, bytes):
            head = parsed_line(tally.last).head
        return self._moment(head.stamp, None, head) if head else None

    def _told(self, block: Block, start: int, line: Line) -> bool:
        """Take what the line tells of facts and of collectives; does it tell any?"""
        facts = speaks_of_facts(line.text)
        if facts:
            self.fact_reader.take(line.text, line.head)
        report = self.reports.wants(line.data)
        if report:
            self._take_report(block, start, line)
        return facts or report

    def _note_first(self, block: Block) -> None:
        for index in range(min(len(block), 50)):
            head = block.line(index).head
            if head.stamp is not None:
                self.facts.stamps.append(head.stamp)
                return

    def _take_report(self, block: Block, start: int, line: Line) -> None:
        """The line where it speaks of collectives, and the row below a table's heading."""
        index = block.index_at(start)
        self.reports.take(block.number(index), line.text, line.head)
        if self.reports.wants_next(line.data) and index + 1 < len(block):
            row = block.line(index + 1)
            if not self.reports.wants(row.data):
                self.reports.take(block.number(index + 1), row.text, row.head)

    def _take_match(self, block: Block, start: int, match: Match) -> Tally | None:
        """Count the line to the clue it repeats, or make a clue of its record."""
        line = block.line_at(start)
        said = _report_in(match, line.text) if line.head.prefixes else line.text
        key = self._key(match, line.head, said, self.suppression.rules_on(line.data))
        tally = self.tallies.get(key)
        if tally is None and len(self.clues) < MAX_CLUES:
            return self._add(key, block, block.index_at(start), match)
        if tally is not None:
            tally.count += 1
            tally.last = line.head if line.head.stamp is not None else tally.last
        return tally

    def _add(self, key: tuple[object, ...], block: Block, index: int, match: Match) -> Tally:
        line = block.line(index)
        self.records[match.signature.code] += 1
        whole = self.records[match.signature.code] <= MAX_RECORDS
        span = span_at(block, index) if whole else [index]
        record = record_of(self.evidence.name, block, span, self.known)
        head = line.head if line.head.prefixes else record.head
        place = self._place(match, head, record.text)
        self._note(place, head)
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
            report=_report_in(match, record.text),
            ignored_by=self.suppression.rules_on(line.data),
        )
        return self.tallies.setdefault(key, Tally())

    def _key(
        self, match: Match, head: Head, said: object, ignored_by: frozenset[int]
    ) -> tuple[object, ...]:
        """Equal for lines that say the same of the same place, up to MAX_VARIANTS of them.

        A line without any prefix says nothing of its place, so its whole text is what is `said`.
        """
        where = (match.signature.code, self._place_key(match, head), ignored_by)
        key = (*where, match.parts.get("detail"), match.parts.get("sig"), said)
        if key in self.tallies or len(self.clues) >= MAX_CLUES:
            return key
        variants = self.variants.setdefault(where, [])
        if len(variants) >= MAX_VARIANTS:
            return variants[0]
        variants.append(key)
        return key

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

    def _place_key(self, match: Match, head: Head) -> tuple[object, ...]:
        """`_place(…).key`, remembered for the words that it is made from."""
        words = (match.signature.code, *match.parts.items(), head.spoken_host, rank_of(head))
        key = self.place_keys.get(words)
        if key is None:
            key = self._place(match, head, "").key
            if len(self.place_keys) < MAX_REMEMBERED:
                self.place_keys[words] = key
        return key

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


def _report_in(match: Match, text: str) -> WatchdogReport | None:
    return watchdog_report(text) if match.signature.code.startswith("c10d") else None


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
