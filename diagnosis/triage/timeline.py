"""Putting times on one line: years that stamps leave out, boot times, clock offsets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from time import gmtime

from diagnosis.core.target import normalise_host
from diagnosis.readers.logs_times import Clock, Stamp, with_year
from diagnosis.triage.clues import Clue, Moment


def anchor(stamps: Iterable[Stamp], now: float | None) -> float | None:
    """The moment that stamps without a year are put nearest to; None where nothing tells it."""
    whole = [stamp.time for stamp in stamps if stamp.clock in {Clock.ZONED, Clock.ZONE_ASSUMED}]
    return median(whole) if whole else now


def aligned(
    clues: Sequence[Clue],
    *,
    near: float | None,
    boots: Mapping[tuple[str, str], float],
    offsets: Mapping[str, float],
) -> list[Clue]:
    """The clues with their times on UTC where that can be known.

    `boots`: log → epoch seconds of its host's boot; `offsets`: host → its clock minus UTC.
    """
    by_host = {normalise_host(host): offset for host, offset in offsets.items()}
    moved = []
    for clue in clues:
        host = normalise_host(clue.place.host) if clue.place.host else None
        offset = by_host.get(host, 0.0) if host else 0.0
        boot = boots.get(clue.log)
        first, last = (_on_utc(moment, near, boot, offset) for moment in (clue.moment, clue.last))
        same = first is clue.moment and last is clue.last
        moved.append(clue if same else replace(clue, moment=first, last=last))
    return moved


def on_utc(stamp: Stamp, near: float | None, boot: float | None) -> Moment | None:
    """A stamp on the common scale, as far as that can be known."""
    if stamp.clock is Clock.NONE:
        return None
    scales = {Clock.UPTIME: "uptime", Clock.YEAR_UNKNOWN: "yearless"}
    moment = Moment(stamp.time, scales.get(stamp.clock, "utc"), zoned=stamp.clock is Clock.ZONED)
    return _on_utc(moment, near, boot, 0.0)


def _on_utc(
    moment: Moment | None, near: float | None, boot: float | None, offset: float
) -> Moment | None:
    if moment is None:
        return None
    if moment.scale.startswith("uptime"):
        if boot is None:
            return moment
        return Moment(boot + moment.time - offset, "utc", zoned=True)
    if moment.scale == "yearless":
        if near is None:
            return replace(moment, time=moment.time - offset)
        return Moment(_nearest_year(moment.time, near) - offset, "utc")
    return replace(moment, time=moment.time - offset) if offset else moment


def _nearest_year(time: float, near: float) -> float:
    stamp = Stamp(time, Clock.YEAR_UNKNOWN)
    year = gmtime(near).tm_year
    tries = [with_year(stamp, candidate).time for candidate in (year - 1, year, year + 1)]
    return min(tries, key=lambda moved: abs(moved - near))


def day_text(moment: Moment | None) -> str:
    """When, for a sentence: `03-07 06:20:07`, with year and zone where they are known."""
    if moment is None or moment.scale.startswith("uptime"):
        return ""
    parts = gmtime(moment.time)
    clock = f"{parts.tm_hour:02d}:{parts.tm_min:02d}:{parts.tm_sec:02d}"
    if moment.scale == "utc":
        return f"{parts.tm_year:04d}-{parts.tm_mon:02d}-{parts.tm_mday:02d} {clock} UTC"
    return f"{parts.tm_mon:02d}-{parts.tm_mday:02d} {clock}"
