"""A file that holds the output of several hosts under headings: each host's part is a log."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from diagnosis.core.collective_reports import CollectiveReports
from diagnosis.core.evidence import Evidence
from diagnosis.core.target import normalise_host
from diagnosis.readers.line_ends import after_break, line_end
from diagnosis.readers.logs import Block, read_blocks
from diagnosis.readers.logs_headings import FIRST_LINES, Headings, Whose
from diagnosis.readers.origin import Origin, origin_of
from diagnosis.taxonomy.matcher import Matcher
from diagnosis.taxonomy.scanners import Hit
from diagnosis.taxonomy.suppression import Suppression
from diagnosis.triage.clues import Clue
from diagnosis.triage.scan import Reading, Scan, first_heading, hits_in

#: Headings of different hosts that one file may have; what stands under further ones is nobody's.
MAX_SECTIONS = 4096


def scan_sections(
    evidence: Evidence,
    matcher: Matcher,
    suppression: Suppression = Suppression(),  # noqa: B008 - frozen
    known: Collection[str] = (),
) -> list[Scan]:
    """Read one file in one pass: the log that it is, or one for each host whose heading it has.

    `known`: the job's hosts. Raises only what its stream raises (`OSError`, `EOFError`).
    """
    sections = _Sections(evidence, matcher, suppression, known)
    with evidence.open() as stream:
        for block in read_blocks(stream):
            sections.take(block)
    return sections.finish()


class _Sections:
    """The readings of one file, by whose lines they take."""

    def __init__(
        self,
        evidence: Evidence,
        matcher: Matcher,
        suppression: Suppression,
        known: Collection[str],
    ) -> None:
        self._evidence, self._matcher, self._suppression = evidence, matcher, suppression
        self._named = origin_of(evidence)
        self._headings = Headings(known)
        self._first_heading = first_heading(matcher)
        self._above: list[bytes] = []
        self._own = self._now = Reading(evidence, self._named, matcher, suppression)
        self._readings: dict[Whose, Reading] = {}

    def take(self, block: Block) -> None:
        """Read the next block, each part of it for the host whose it is."""
        hits = list(hits_in(block, self._matcher))
        headed = [hit for hit in hits if hit[2][-1] >= self._first_heading]
        whose = dict(self._headings_in(block, headed))
        self._above = [*self._above, *_last_lines(block)][-2:]
        if not whose:
            self._now.take(block, self._plain(hits) if headed else hits)
            return
        for cut, part in block.parts([*whose]):
            self._now = self._reading_of(whose[cut]) if cut in whose else self._now
            if len(part.text):
                self._now.take(part, self._plain(hits_in(part, self._matcher)))

    def _plain(self, hits: Iterable[Hit]) -> Iterator[Hit]:
        """The lines that may be more than a heading."""
        return (hit for hit in hits if hit[2][0] < self._first_heading)

    def _headings_in(self, block: Block, hits: Iterable[Hit]) -> Iterator[tuple[int, Whose]]:
        """Where the lines below a heading begin, and whose they are."""
        if block.around is not None:
            return
        for start, _, _ in hits:
            above = [block.bytes_at(one) for one in block.starts_before(start, 2)]
            lines = [*self._above, *reversed(above), block.bytes_at(start)][-3:]
            *before, line = (one.decode("utf-8", "replace") for one in lines)
            whose = self._headings.whose(line, before, block.number_at(start))
            if whose:
                yield after_break(block.text, line_end(block.text, start)), whose

    def _reading_of(self, whose: Whose) -> Reading:
        """The reading that takes the lines below this heading."""
        reading = self._readings.get(whose)
        if reading is None and len(self._readings) < MAX_SECTIONS:
            first = _completed(whose[0], self._named)
            section = f"heading {len(self._readings) + 1}"
            reading = Reading(self._evidence, first, self._matcher, self._suppression, section)
            self._readings[whose] = reading
        return reading or self._own

    def finish(self) -> list[Scan]:
        """What was read: of the file itself unless all of it stands under headings."""
        own = self._own.finish()
        scans = [
            scan
            for whose, reading in self._readings.items()
            for scan in _for_each(reading.finish(), whose)
        ]
        only_heads = own.facts.lines <= FIRST_LINES and not own.clues
        return scans if scans and only_heads else [own, *scans]


def _completed(origin: Origin, named: Origin) -> Origin:
    """What the heading tells, and what it does not as the file's name tells it."""
    if origin.host is None and origin.rank is None:
        return named
    return replace(origin, job=origin.job or named.job)


def _for_each(scan: Scan, whose: Sequence[Origin]) -> Iterator[Scan]:
    """The lines of equal output, said by each of the hosts."""
    yield scan
    first = scan.origin.host or ""
    for origin in whose[1:]:
        host = origin.host or ""
        clues = tuple(_said_by(clue, first, host) for clue in scan.clues)
        facts = replace(scan.facts, comm_ranks={}, addresses={}, lines=0)
        yield replace(
            scan,
            origin=replace(scan.origin, host=host),
            clues=clues,
            facts=facts,
            reports=CollectiveReports(),
            section=_section_of(scan.section, host),
        )


def _said_by(clue: Clue, first: str, host: str) -> Clue:
    """The clue of the first host's line, as the other host's."""
    own = clue.place.host is not None and normalise_host(clue.place.host) == normalise_host(first)
    moments = (
        moment and replace(moment, scale=moment.scale.replace(f"uptime {first}", f"uptime {host}"))
        for moment in (clue.moment, clue.last)
    )
    moment, last = moments
    place = replace(clue.place, host=host) if own else clue.place
    return replace(
        clue, place=place, moment=moment, last=last, section=_section_of(clue.section, host)
    )


def _section_of(section: str, host: str) -> str:
    return f"{section}, {host}"


def _last_lines(block: Block) -> list[bytes]:
    return [block.bytes_at(start) for start in block.starts_before(len(block.text), 2)][::-1]
