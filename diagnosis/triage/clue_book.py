"""The clues of one log as they are found: equal lines counted, different ones told apart."""

import re
from collections import Counter
from dataclasses import replace
from typing import TypeAlias

from diagnosis.readers.logs import Block, Record, parsed_line, record_of, span_at
from diagnosis.readers.logs_c10d import WatchdogReport, watchdog_report
from diagnosis.readers.logs_heads import Head
from diagnosis.readers.logs_times import Clock, Stamp, stamp_at
from diagnosis.readers.origin import Origin
from diagnosis.taxonomy.matcher import Match
from diagnosis.taxonomy.signature import Stream
from diagnosis.taxonomy.suppression import Suppression
from diagnosis.triage.clues import TEXT_LENGTH, Clue, Moment
from diagnosis.triage.places import Place, pci_in
from diagnosis.triage.repeats import Saying, Speaker, Tallies, Tally
from diagnosis.triage.sheet_states import is_of_a_sheet

#: Different clues that one log may give; a log with more is a flood whose start is enough, save for
#: the first MAX_RECORDS of each signature.
MAX_CLUES = 3000

#: Different clues of one signature at one place; further lines count to the first of them.
MAX_VARIANTS = 100

#: Clues of one signature whose whole records are kept; later ones keep their own line. A watchdog's
#: record is always kept whole: its numbers may stand in a later line.
MAX_RECORDS = 8

#: A message of the driver has so many lines before its last, and names its GPU in the first.
_DRIVER_MESSAGE = 2
_NAMES_GPU = b"NVRM: The NVIDIA GPU "

_SPACED = re.compile(r"\s+:\s+")

#: What a line says of which part (`Saying.what`).
_What: TypeAlias = tuple[object, ...]


class ClueBook:
    """The clues of one log, in order of their first lines."""

    def __init__(
        self, evidence: str, origin: Origin, suppression: Suppression, section: str = ""
    ) -> None:
        """`evidence` is its name, `section` the heading in it."""
        self._evidence = evidence
        self._section = section
        self._origin = origin
        self._suppression = suppression
        self._found: list[tuple[Clue, Tally]] = []
        self._tallies: dict[_What, Tallies] = {}
        self._variants: dict[tuple[_What, Speaker], list[Tally]] = {}
        self._records: Counter[str] = Counter()

    def tally(self, saying: Saying, speaker: Speaker, raw: bytes, *, headed: bool) -> Tally | None:
        """What a line of these words counts to; None for a line that says something new.

        A line without any prefix (not `headed`) says nothing of its place: its text tells it apart.
        """
        tallies = saying.tallies
        if tallies is None:
            tallies = self._tallies.get(self._what(saying, raw, headed=headed))
            if not self._suppression.rules.patterns and not _is_watchdogs(saying.match):
                saying.tallies = tallies
        tally = tallies.get(speaker) if tallies else None
        if tally is None and self.has_room(saying):
            what = self._what(saying, raw, headed=headed)
            same = self._variants.get((what[:3], speaker))
            return same[0] if same and len(same) >= MAX_VARIANTS else None
        return tally

    def has_room(self, saying: Saying) -> bool:
        """May there be another clue? A signature's first ones are kept whatever else floods."""
        if not saying.is_closed and len(self._found) >= MAX_CLUES:
            saying.is_closed = self._records[_match_of(saying).signature.code] >= MAX_RECORDS
        return not saying.is_closed

    def add(
        self, block: Block, start: int, saying: Saying, speaker: Speaker, known: Stamp | None
    ) -> Head:
        """Make a clue of the record that holds the line at byte `start`; the head of its speaker.

        `known`: the last stamp before the block.
        """
        line, match = block.line_at(start), _match_of(saying)
        self._records[match.signature.code] += 1
        whole = _is_watchdogs(match) or self._records[match.signature.code] <= MAX_RECORDS
        span = span_at(block, start) if whole else [start]
        record = record_of(self._evidence, block, span, known)
        head = line.head if line.head.prefixes else record.head
        clue = Clue(
            signature=match.signature,
            place=self._place(saying, head, block, start, record.text),
            evidence=self._evidence,
            line=record.line if start == span[0] else block.number_at(start),
            offset=record.offset if start == span[0] else block.offset_at(start),
            lines=record.lines,
            text=_text_of(match, line.text),
            context=record.text,
            parts=tuple(sorted(match.parts.items())),
            moment=None
            if is_of_a_sheet(match)
            else self._moment(line.head.stamp or _told_in(match), record, head),
            job=self._origin.job,
            report=_report_in(match, record.text),
            ignored_by=self._suppression.rules_on(line.data),
            section=self._section,
        )
        self._enter(clue, self._what(saying, line.data, headed=line.head.prefixes > 0), speaker)
        return head

    def _enter(self, clue: Clue, what: _What, speaker: Speaker) -> None:
        tally = Tally()
        self._found.append((clue, tally))
        self._tallies.setdefault(what, {})[speaker] = tally
        self._variants.setdefault((what[:3], speaker), []).append(tally)

    def all(self) -> tuple[Clue, ...]:
        """The clues with their counts and last times."""
        return tuple(
            replace(clue, count=tally.count, last=self._last(tally)) if tally.count > 1 else clue
            for clue, tally in self._found
        )

    def _last(self, tally: Tally) -> Moment | None:
        head = tally.last if isinstance(tally.last, Head) else None
        if isinstance(tally.last, bytes):
            head = parsed_line(tally.last).head
        return self._moment(head.stamp, None, head) if head else None

    def _what(self, saying: Saying, raw: bytes, *, headed: bool) -> _What:
        said: object = None if headed else raw
        if headed and _is_watchdogs(saying.match):
            said = watchdog_report(raw.decode("utf-8", "replace"))
        return saying.what(said, self._suppression.rules_on(raw))

    def _moment(self, stamp: Stamp | None, record: Record | None, head: Head) -> Moment | None:
        if stamp is None and record is not None and record.time is not None:
            stamp = Stamp(record.time, record.clock)
        if stamp is None:
            return None
        time, clock = stamp.time, stamp.clock
        if clock is Clock.UPTIME:
            where = head.spoken_host or self._origin.host or self._evidence
            return Moment(time, f"uptime {where}")
        scale = "yearless" if clock is Clock.YEAR_UNKNOWN else "utc"
        return Moment(time, scale, zoned=clock is Clock.ZONED)

    def _place(self, saying: Saying, head: Head, block: Block, start: int, text: str) -> Place:
        """Where a record puts its match; its own host and rank where the words name none."""
        place = saying.place
        own = saying.takes_host
        return Place(
            (host_of(head, self._origin) or saying.mention) if own else place.host,
            rank_of(head, self._origin) if saying.takes_rank else place.rank,
            place.gpu or _gpu_in(_match_of(saying), block, start, text),
            place.nic,
            place.link,
            place.peer,
        )


def _match_of(saying: Saying) -> Match:
    if saying.match is None:
        raise ValueError("words without a match make no clue")
    return saying.match


def _told_in(match: Match) -> Stamp | None:
    """When it happened by the words of the line, as Slurm tells it behind `CANCELLED AT`."""
    found = stamp_at(match.parts.get("at", ""), 0)
    return found[0] if found else None


def _text_of(match: Match, line: str) -> str:
    """The line; of a sheet's, with the device that it is about."""
    device = match.parts.get("device")
    text = f"{device}: {_SPACED.sub(': ', line.strip())}" if device else line.strip()
    return text if len(text) <= TEXT_LENGTH else f"{text[: TEXT_LENGTH - 2]} …"


def _is_watchdogs(match: Match | None) -> bool:
    return match is not None and match.signature.code.startswith("c10d")


def _report_in(match: Match, text: str) -> WatchdogReport | None:
    return watchdog_report(text) if _is_watchdogs(match) else None


def host_of(head: Head, origin: Origin) -> str | None:
    """The host whose line it is, as given."""
    return head.spoken_host or origin.host


def rank_of(head: Head, origin: Origin = Origin()) -> int | None:  # noqa: B008 - frozen
    """The global rank that a line's prefixes tell; c10d's group rank only where it is global."""
    if head.rank is not None:
        return head.rank
    if head.group_rank is not None and head.default_group is not False:
        return head.group_rank
    return origin.rank if head.task is None else head.task


def _gpu_in(match: Match, block: Block, start: int, text: str) -> str | None:
    """A GPU's address elsewhere in a kernel record that is about a GPU.

    `text` is the record. The driver's message of several lines names the GPU in its first; a
    collector makes each of them a record.
    """
    signature = match.signature
    if signature.stream is not Stream.KERNEL or signature.component != "gpu":
        return None
    above = [block.bytes_at(earlier) for earlier in block.starts_before(start, _DRIVER_MESSAGE)]
    heading = next((line for line in above if _NAMES_GPU in line), b"")
    return pci_in(text) or pci_in(heading.decode("utf-8", "replace"))
