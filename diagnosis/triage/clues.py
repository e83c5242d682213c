"""Clues: signature matches, equal ones collapsed, each with its place and time."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import gmtime, strftime

from diagnosis.core.diagnosis import Finding
from diagnosis.core.target import Target
from diagnosis.readers.logs_c10d import WatchdogReport
from diagnosis.taxonomy.signature import Signature
from diagnosis.triage.places import Place

#: A clue's text is cut after this many characters; the locator leads to the rest.
TEXT_LENGTH = 400


@dataclass(frozen=True, slots=True)
class Moment:
    """A time that compares only with times on the same scale.

    `scale`: "utc", "yearless" (year unknown), or "uptime …" of one host or file. `zoned` says that
    the stamp told its zone.
    """

    time: float
    scale: str
    zoned: bool = False


@dataclass(frozen=True, slots=True)
class Clue:
    """All lines of one log that say the same of the same place.

    `order` is (file, line) of the first. `context` is the first record whole. `parts` are the
    named groups of the first match. `section` is the heading that it stands under, in a file of
    several hosts' output. `job` is the job that the evidence belongs to, None for a
    host's own log. `ignored_by`: positions of the ignore rules whose pattern its lines have.
    """

    signature: Signature
    place: Place
    evidence: str
    line: int
    offset: int
    lines: int
    text: str
    context: str
    parts: tuple[tuple[str, str], ...] = ()
    moment: Moment | None = None
    last: Moment | None = None
    count: int = 1
    job: str | None = None
    report: WatchdogReport | None = None
    ignored_by: frozenset[int] = frozenset()
    section: str = ""

    @property
    def log(self) -> tuple[str, str]:
        """The log, or the part of one, in which the order of lines is that of time."""
        return (self.evidence, self.section)

    @property
    def code(self) -> str:
        return self.signature.code

    @property
    def order(self) -> tuple[str, int]:
        return (self.evidence, self.line)

    @property
    def strength(self) -> tuple[int, int]:
        """Severity, then priority."""
        return (self.signature.severity.weight, self.signature.priority)

    def part(self, name: str) -> str | None:
        return dict(self.parts).get(name)

    def at(self, place: Place) -> "Clue":
        return self if place == self.place else replace(self, place=place)


def is_before(one: Clue, other: Clue) -> bool | None:
    """Did `one` happen before `other`? None where nothing tells."""
    if one.moment and other.moment and one.moment.scale == other.moment.scale:
        if one.moment.time != other.moment.time:
            return one.moment.time < other.moment.time
        if one.log != other.log:
            return None
    if one.log == other.log:
        return one.line < other.line
    return None


def earliest(clues: Iterable[Clue]) -> list[Clue]:
    """The clues in order of time where it is known, else of file and line."""
    return sorted(clues, key=_time_key)


def _time_key(clue: Clue) -> tuple[object, ...]:
    if clue.moment is None:
        return (1, "", 0.0, *clue.order)
    return (0, clue.moment.scale, clue.moment.time, *clue.order)


def as_finding(clue: Clue, target: Target, weight: float = 1.0) -> Finding:
    """The finding that a clue becomes, with the way back to its first line."""
    locator: dict[str, object] = {"line": clue.line, "offset": clue.offset, "lines": clue.lines}
    if clue.count > 1:
        locator["count"] = clue.count
        locator["first"] = shown_time(clue.moment)
        locator["last"] = shown_time(clue.last)
    return Finding(
        detector=f"signature:{clue.code}",
        target=target,
        text=clue.text,
        evidence=clue.evidence,
        locator=locator,
        time=shown_time(clue.moment),
        weight=weight,
    )


def shown_time(moment: Moment | None) -> str | float | None:
    """Seconds since the epoch, text where the year or the epoch is not known, None for no time."""
    if moment is None:
        return None
    if moment.scale == "utc":
        return moment.time
    if moment.scale == "yearless":
        return strftime("--%m-%dT%H:%M:%S", gmtime(moment.time))
    return f"uptime {moment.time:.3f} s"
