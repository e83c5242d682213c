"""From one log to its clues and facts, in one pass and bounded memory."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter

from diagnosis.core.collective_reports import CollectiveReports
from diagnosis.core.evidence import Evidence
from diagnosis.core.target import normalise_host
from diagnosis.readers.collective_reports import PATTERNS as REPORT_PATTERNS
from diagnosis.readers.collective_reports import ReportReader
from diagnosis.readers.gpu_sheets import Sheets
from diagnosis.readers.logs import (
    MAX_LINE_BYTES,
    Block,
    Line,
    is_plain,
    last_stamp,
    read_blocks,
    shortened,
)
from diagnosis.readers.logs_colours import ESCAPE
from diagnosis.readers.logs_forms import Form
from diagnosis.readers.logs_headings import HEADING_PATTERNS
from diagnosis.readers.logs_heads import NO_HEAD, Head
from diagnosis.readers.logs_times import Stamp, may_hold_stamp
from diagnosis.readers.origin import Origin, origin_of
from diagnosis.taxonomy.matcher import Match, Matcher
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.taxonomy.scanners import Hit
from diagnosis.taxonomy.suppression import Suppression
from diagnosis.triage.clue_book import ClueBook, host_of, rank_of
from diagnosis.triage.clues import Clue
from diagnosis.triage.facts import FACT_PATTERNS, FactReader, Facts, speaks_of_facts
from diagnosis.triage.mentions import host_in
from diagnosis.triage.repeats import Saying, Sayings, Speaker
from diagnosis.triage.sheet_states import in_sheet, is_of_a_sheet

#: From this many bytes on, building the quicker scanner (half a second) pays for itself.
NATIVE_FROM_BYTES = 64 * 1024**2

#: Lines at a log's start among which its first time is looked for.
FIRST_LINES = 50


@dataclass(frozen=True)
class Scan:
    """One log's clues, in order of their first lines, its facts, and its collective reports.

    `section`: the heading that its lines stand under, in a file of several hosts' output.
    """

    evidence: Evidence
    origin: Origin
    clues: tuple[Clue, ...]
    facts: Facts
    reports: CollectiveReports
    section: str = ""

    @property
    def log(self) -> tuple[str, str]:
        """The log, or the part of one, in which the order of lines is that of time."""
        return (self.evidence.name, self.section)


def matcher_for(taxonomy: Taxonomy, size: int = 0) -> Matcher:
    """The taxonomy's matcher, which also stops at facts, at collectives and at headings.

    `size`: bytes that will be scanned; a large amount pays for the quicker scanner.
    """
    return taxonomy.matcher_with(
        (*FACT_PATTERNS, *REPORT_PATTERNS, *HEADING_PATTERNS), native=size >= NATIVE_FROM_BYTES
    )


def first_heading(matcher: Matcher) -> int:
    """From this number on, patterns that `matcher_for` added only name headings."""
    return matcher.signatures + len(FACT_PATTERNS) + len(REPORT_PATTERNS)


def scan(
    evidence: Evidence,
    matcher: Matcher,
    suppression: Suppression = Suppression(),  # noqa: B008 - frozen
) -> Scan:
    """Read one log as a whole. Raises only what its stream raises (`OSError`, `EOFError`)."""
    reading = Reading(evidence, origin_of(evidence), matcher, suppression)
    with evidence.open() as stream:
        for block in read_blocks(stream):
            reading.take(block, hits_in(block, matcher))
    return reading.finish()


def hits_in(block: Block, matcher: Matcher) -> Iterator[Hit]:
    """Lines of a block that may match something: start, bytes without colours, which patterns."""
    coloured = block.coloured
    if coloured is None:
        return matcher.hits(block.text)
    found = (
        (coloured.origin(at), raw, possible) for at, raw, possible in matcher.hits(coloured.text)
    )
    if coloured.origins is None:
        return found
    hits = {hit[0]: hit for hit in matcher.hits(block.text) if ESCAPE not in hit[1]}
    hits.update((hit[0], hit) for hit in found)
    return iter(sorted(hits.values(), key=itemgetter(0)))


class Reading:
    """The state of one pass over one log, or over one section of it."""

    def __init__(
        self,
        evidence: Evidence,
        origin: Origin,
        matcher: Matcher,
        suppression: Suppression,
        section: str = "",
    ) -> None:
        self.evidence, self.origin, self.section = evidence, origin, section
        self.facts = Facts()
        self.reports = ReportReader(evidence)
        self.book = ClueBook(evidence.name, origin, suppression, section)
        self.sayings = Sayings(matcher)
        self._matcher = matcher
        self._fact_reader = FactReader(self.facts)
        self._sheets = Sheets()
        self._known: Stamp | None = None

    def finish(self) -> Scan:
        """What was read."""
        return Scan(
            self.evidence,
            self.origin,
            self.book.all(),
            self.facts,
            self.reports.finish(),
            self.section,
        )

    def take(self, block: Block, hits: Iterable[Hit]) -> None:
        """Read the next block, whose `hits` the matcher has named."""
        if not self.facts.stamps:
            self._note_first(block)
        own = self._matcher.signatures
        for start, whole, possible in hits:
            raw = whole
            if len(whole) > MAX_LINE_BYTES:
                raw = shortened(whole)
                self.facts.shortened += 1
            if possible[-1] >= own:
                if self._took_facts(block, raw, possible):
                    continue
                self._take_facts(block, start)
            if not self._counted(block, start, raw, possible):
                self._look_at(block, start, raw, possible)
        self._known = last_stamp(block) or self._known
        self.facts.last = self._known
        self.facts.lines += block.lines_of_file

    def _counted(self, block: Block, start: int, raw: bytes, possible: tuple[int, ...]) -> bool:
        """Take a line whose words were judged already; False where it must be looked at."""
        found = self.sayings.of(raw, possible)
        if found is None:
            return False
        form, saying = found
        if saying.match is None:
            return True
        outer = NO_HEAD if block.around is None else block.outer_head_at(start)
        speaker = saying.speaker(*self._speaker(form, raw, outer))
        if saying.tallies is not None and saying.is_closed:
            tally = saying.tallies.get(speaker)
        else:
            headed = form.end > 0 or outer.prefixes > 0
            tally = self.book.tally(saying, speaker, raw, headed=headed)
        if tally is None:
            if not saying.is_closed:
                self._add(block, start, saying, speaker)
            return True
        tally.count += 1
        if outer.stamp is not None:
            tally.last = outer
        elif form.has_stamp:
            tally.last = raw
        return True

    def _took_facts(self, block: Block, raw: bytes, possible: tuple[int, ...]) -> bool:
        """Take the facts of a line that tells nothing else; False where it may."""
        own = self._matcher.signatures
        others = possible[0] < own or possible[-1] >= own + len(FACT_PATTERNS)
        if others or block.around is not None or not is_plain(raw):
            return False
        form = self.sayings.forms.of(raw)
        if form is None or form.host is None:
            return False
        return self._fact_reader.take_plain(raw, raw[slice(*form.host)].decode("ascii"))

    def _look_at(self, block: Block, start: int, raw: bytes, possible: tuple[int, ...]) -> None:
        """Take what one line tells, and remember the form of its prefixes."""
        line = block.line_at(start)
        same = possible if line.data == raw else None
        if same is None and possible[-1] < self._matcher.signatures:
            self._take_facts(block, start)
        match = self._matcher.best(line.data, line.message_data, same)
        if match is not None and is_of_a_sheet(match):
            match = in_sheet(match, self._sheets.place(block, start))
        if match is not None:
            self._take_match(block, start, match)
        self.sayings.forms.learn(raw, line)

    def _take_match(self, block: Block, start: int, match: Match) -> None:
        """Count the line to the clue it repeats, or make a clue of its record."""
        line = block.line_at(start)
        saying = Saying(match, host_in(line.message_data, match.signature))
        host, rank = host_of(line.head, self.origin), rank_of(line.head, self.origin)
        speaker = saying.speaker(normalise_host(host) if host else None, rank)
        tally = self.book.tally(saying, speaker, line.data, headed=line.head.prefixes > 0)
        if tally is not None:
            tally.count += 1
            tally.last = line.head if line.head.stamp is not None else tally.last
        elif self.book.has_room(saying):
            self._add(block, start, saying, speaker)

    def _add(self, block: Block, start: int, saying: Saying, speaker: Speaker) -> None:
        """Make a clue of the line's record."""
        head = self.book.add(block, start, saying, speaker, self._known)
        self.facts.note_speaker(head.spoken_host, rank_of(head))

    def _take_facts(self, block: Block, start: int) -> None:
        """What the line tells of facts and of collectives."""
        line = block.line_at(start)
        if speaks_of_facts(line.text):
            self._fact_reader.take(line.text, line.head)
        if self.reports.wants(line.data):
            self._take_report(block, start, line)

    def _note_first(self, block: Block) -> None:
        starts = [0, *block.starts_after(0, FIRST_LINES - 1)]
        for start, end in zip(starts, [*starts[1:], len(block.text)], strict=True):
            if block.around is None and not may_hold_stamp(block.text, start, end):
                continue
            head = block.line_at(start).head
            if head.stamp is not None:
                self.facts.stamps.append(head.stamp)
                return

    def _take_report(self, block: Block, start: int, line: Line) -> None:
        """The line where it speaks of collectives, and the row below a table's heading."""
        self.reports.take(block.number_at(start), line.text, line.head)
        if not self.reports.wants_next(line.data):
            return
        for below in block.starts_after(start, 1):
            row = block.line_at(below)
            if not self.reports.wants(row.data):
                self.reports.take(block.number_at(below), row.text, row.head)

    def _speaker(self, form: Form, raw: bytes, outer: Head) -> Speaker:
        """Whose line it is by its form and by what is around it: host (normalised) and rank."""
        host, rank = outer.outer_host or self.origin.host, self.origin.rank
        if form.host is not None:
            begin, end = form.host
            host = raw[begin:end].decode("ascii")
        if outer.rank is not None and form.draft.rank is None:
            rank = outer.rank
        elif form.rank is not None:
            begin, end = form.rank
            rank = int(raw[begin:end])
        return normalise_host(host) if host else None, rank
