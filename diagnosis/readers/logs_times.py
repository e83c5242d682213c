"""The timestamps that logs of training clusters carry, as seconds since the epoch.

Grammars: ISO 8601 with and without zone, Python logging with a comma, syslog without a year, RFC
5424, dmesg uptime and `dmesg -T`, glog and absl (`E1130 06:20:07.249`; PyTorch drops the leading
zero of the month), vLLM (`09-05 00:56:08`), SONiC and Cisco syslog, IPMI SEL, fabric manager,
Slurm, Rich (`[11/30/26 03:12:07]`), web-server style and `time : 2025-03-25_18:17:27` of torchrun.
"""

import re
from calendar import timegm
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from time import gmtime
from typing import NamedTuple

#: Stands in for a year that a stamp does not tell: a leap year, so that 29 February exists.
UNKNOWN_YEAR = 2000

_MONTHS = {
    "jan": 1,
    "feb": 2,
    "mar": 3,
    "apr": 4,
    "may": 5,
    "jun": 6,
    "jul": 7,
    "aug": 8,
    "sep": 9,
    "oct": 10,
    "nov": 11,
    "dec": 12,
}


class Clock(StrEnum):
    """What is known of a record's time."""

    ZONED = "zoned"
    ZONE_ASSUMED = "zone-assumed"
    YEAR_UNKNOWN = "year-unknown"
    UPTIME = "uptime"
    NONE = "none"


class Stamp(NamedTuple):
    """A parsed timestamp.

    `time`: seconds since the epoch, UTC where no zone is told; of year `UNKNOWN_YEAR` for
    YEAR_UNKNOWN; since the host's boot for UPTIME. `precision`: seconds that the stamp resolves.
    """

    time: float
    clock: Clock
    precision: float = 1.0

    @property
    def year(self) -> int | None:
        """The year, where the stamp tells one."""
        if self.clock in {Clock.ZONED, Clock.ZONE_ASSUMED}:
            return gmtime(self.time).tm_year
        return None


_TIME = r"(?P<h>\d\d):(?P<mi>\d\d)(?::(?P<s>\d\d)(?:[.,](?P<f>\d{1,9}))?)?"
_ZONE = r"(?P<z>\s?(?:Z\b|UTC\b|GMT\b|[+-]\d\d:?\d\d\b))?"
_DATE = r"(?P<y>(?:19|20)\d\d)[-/](?P<mo>\d\d)[-/](?P<d>\d\d)"
_NAMED_MONTH = r"(?P<mon>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_WEEKDAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?"


def _calendar(found: re.Match[str]) -> Stamp | None:
    groups = found.groupdict()
    named = groups.get("mon")
    month = _MONTHS[named.lower()] if named else int(groups["mo"])
    day, year = int(groups["d"]), groups.get("y") or _whole_year(groups.get("yy"))
    hour, minute, second = int(groups["h"]), int(groups["mi"]), int(groups["s"] or 0)
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61):
        return None
    when: float = _day(int(year or UNKNOWN_YEAR), month, day)
    when += hour * 3600 + minute * 60 + second
    when += float(f"0.{groups['f']}") if groups.get("f") else 0.0
    zone = (groups.get("z") or "").strip()
    when -= _zone_seconds(zone)
    return Stamp(when, _clock(year, zone), 1.0 if groups["s"] else 60.0)


def _whole_year(two: str | None) -> str | None:
    """The year of two digits."""
    return two and f"20{two}"


@lru_cache(maxsize=256)
def _day(year: int, month: int, day: int) -> int:
    """Seconds from the epoch to the beginning of a day."""
    return timegm((year, month, day, 0, 0, 0))


def _clock(year: str | None, zone: str) -> Clock:
    if not year:
        return Clock.YEAR_UNKNOWN
    return Clock.ZONED if zone else Clock.ZONE_ASSUMED


def _zone_seconds(zone: str) -> int:
    if not zone or zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "")
    seconds = int(digits[:2]) * 3600 + int(digits[2:4]) * 60
    return -seconds if zone[0] == "-" else seconds


def _uptime(found: re.Match[str]) -> Stamp:
    return Stamp(float(found["up"]), Clock.UPTIME, 1e-6)


def _epoch(found: re.Match[str]) -> Stamp:
    return Stamp(float(found["epoch"]), Clock.ZONED, 1.0)


_DAY_NAMES = "Mo|Tu|We|Th|Fr|Sa|Su"
_MONTH_NAMES = "Ja|Fe|Ma|Ap|Ju|Au|Se|Oc|No|De"


@dataclass(frozen=True, slots=True)
class _Grammar:
    """One way to write a timestamp; `begins` matches the two characters that it can begin with."""

    begins: re.Pattern[str]
    whole: re.Pattern[str]
    build: Callable[[re.Match[str]], Stamp | None]


_GRAMMARS: tuple[_Grammar, ...] = tuple(
    _Grammar(re.compile(begins), re.compile(grammar), build)
    for begins, grammar, build in (
        (r"\[?[12]", rf"\[?{_DATE}[T _]\s?{_TIME}{_ZONE}\]?", _calendar),
        (_DAY_NAMES, rf"{_WEEKDAY} {_DATE} {_TIME}{_ZONE}", _calendar),
        (
            r"<\d|\[[\s\d]|ke|us|da|ma",
            r"(?:<\d+>)?(?:\w+\s*:\w+\s*: )?\[\s*(?P<up>\d+\.\d{3,6})\](?=\s|$)",
            _uptime,
        ),
        (
            rf"\[[A-Z]|{_DAY_NAMES}|{_MONTH_NAMES}",
            rf"\[?(?:{_WEEKDAY} )?{_NAMED_MONTH}\s+(?P<d>\d{{1,2}}) {_TIME} (?P<y>\d{{4}})\]?",
            _calendar,
        ),
        (r"\[[A-Z]", rf"\[{_NAMED_MONTH} (?P<d>\d{{1,2}}) (?P<y>\d{{4}}) {_TIME}\]", _calendar),
        (r"\d\d", rf"(?P<y>\d{{4}}) {_NAMED_MONTH}\s+(?P<d>\d{{1,2}}) {_TIME}", _calendar),
        (
            rf"<\d|{_MONTH_NAMES}",
            rf"(?:<\d+>)?{_NAMED_MONTH}\s+(?P<d>\d{{1,2}}) {_TIME}",
            _calendar,
        ),
        (
            r"\[[IWEFD]|[IWEFD]\d",
            rf"\[?[IWEFD](?P<mo>\d{{1,2}})(?P<d>\d\d) {_TIME}",
            _calendar,
        ),
        (
            r"\[?\d",
            rf"\[?(?P<d>\d\d)/{_NAMED_MONTH}/(?P<y>\d{{4}}):{_TIME}{_ZONE}\]?",
            _calendar,
        ),
        (r"\d\d", rf"(?P<mo>\d\d)/(?P<d>\d\d)/(?P<y>\d{{4}}) (?:\| )?{_TIME}", _calendar),
        (r"\[[01]", rf"\[(?P<mo>\d\d)/(?P<d>\d\d)/(?P<yy>\d\d) {_TIME}\]", _calendar),
        (r"\d\d", rf"(?P<mo>\d\d)-(?P<d>\d\d) {_TIME}", _calendar),
        (r"1[5-9]", r"(?P<epoch>1[5-9]\d{8}\.\d{1,6})(?=[\s:]|$)", _epoch),
    )
)


#: What every grammar's stamp holds somewhere: a clock, an uptime in brackets or epoch seconds.
_IN_EVERY_STAMP = re.compile(rb"\d\d:\d\d|\[\s*\d+\.\d{3}|1[5-9]\d{8}\.\d")


#: What stands before a line's message is no longer than this (bytes).
_HEAD_BYTES = 1 << 10


def may_hold_stamp(data: bytes, start: int, end: int) -> bool:
    """May a line between these bytes have a timestamp? Some times quicker than looking for one."""
    return _IN_EVERY_STAMP.search(data, start, min(end, start + _HEAD_BYTES)) is not None


@lru_cache(maxsize=4096)
def _grammars_for(two: str) -> tuple[_Grammar, ...]:
    return tuple(grammar for grammar in _GRAMMARS if grammar.begins.match(two))


def stamp_at(text: str, position: int = 0) -> tuple[Stamp, int] | None:
    """The timestamp that begins at `position` and where it ends, or None."""
    for grammar in _grammars_for(text[position : position + 2]):
        found = grammar.whole.match(text, position)
        if found is not None:
            stamp = grammar.build(found)
            if stamp is not None:
                return stamp, found.end()
    return None


def finer(known: Stamp | None, new: Stamp) -> Stamp:
    """The finer of two stamps of one line; a year that only the other tells is put into it."""
    if known is None or known.clock is Clock.UPTIME:
        return new
    if new.clock is Clock.UPTIME:
        return known
    if new.clock is Clock.YEAR_UNKNOWN and known.year is not None:
        new = with_year(new, known.year)
    if known.clock is Clock.YEAR_UNKNOWN and new.year is not None:
        known = with_year(known, new.year)
    if known.clock is Clock.ZONED and new.clock is not Clock.ZONED and known.precision <= 1:
        return known
    return new if new.precision < known.precision else known


def with_year(stamp: Stamp, year: int) -> Stamp:
    """A stamp of unknown year put into `year`."""
    shift = timegm((year, 1, 1, 0, 0, 0)) - timegm((UNKNOWN_YEAR, 1, 1, 0, 0, 0))
    leap_gap = 86_400 if _past_february(stamp.time) and not _is_leap(year) else 0
    return Stamp(stamp.time + shift - leap_gap, Clock.ZONE_ASSUMED, stamp.precision)


def _past_february(time: float) -> bool:
    return time >= timegm((UNKNOWN_YEAR, 3, 1, 0, 0, 0))


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
