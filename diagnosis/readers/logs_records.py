"""Records: one statement of a program, which may take several lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnosis.readers.logs_blocks import Block, Line
from diagnosis.readers.logs_heads import Head
from diagnosis.readers.logs_times import Clock, Stamp

#: How far a record reaches from one of its lines, in lines, and how long its text may get.
MAX_RECORD_LINES = 120
MAX_RECORD_CHARS = 20_000

#: How far back indented lines are taken into a record that has no traceback's head; it
#: reaches twice as far in all.
HEADLESS_LINES = 16

#: How far back a line without time looks for one.
TIME_LOOK_BACK = 200

TRACEBACK = "Traceback (most recent call last)"
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)\b")
_STARTS_ANEW = (TRACEBACK, "During handling of the above", "The above exception was")


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a log.

    `line` counts from 1 and `offset` in bytes, both for the first line in the original file;
    `lines` says how many it takes. `time` is in seconds since the epoch (UTC where the stamp has
    no zone), since boot where `clock` is UPTIME, None where nothing tells it; `inherited` says
    that it is the time of an earlier line. `text` joins the lines with line feeds, without
    prefixes after the first.
    """

    file: str
    line: int
    offset: int
    lines: int
    text: str
    head: Head
    time: float | None = None
    clock: Clock = Clock.NONE
    inherited: bool = False


def span_at(block: Block, index: int) -> list[int]:
    """Indices of the lines of the record that holds line `index`, ascending.

    Lines that another process wrote in between are left out; a line without any prefix belongs to
    the line right before it.
    """
    first = _first_line(block, index)
    owner = block.line(first)
    span, adjacent = [first], True
    in_traceback = _begins_traceback(owner) or _is_indented(owner)
    reach = MAX_RECORD_LINES if _begins_traceback(owner) else 2 * HEADLESS_LINES
    for later in range(first + 1, min(len(block), first + reach)):
        line = block.line(later)
        if line.head.prefixes and owner.head.prefixes and not _same_source(owner.head, line.head):
            if not in_traceback:
                break
            adjacent = False
            continue
        if not adjacent and not line.head.prefixes:
            continue
        if not _goes_on(owner, line, in_traceback=in_traceback):
            break
        span.append(later)
        adjacent = True
        if in_traceback and not _is_indented(line) and not _is_wrapped(owner, line):
            in_traceback = False
    return span if index in span else [index]


def _is_wrapped(owner: Line, line: Line) -> bool:
    """The rest of a line that a runner broke in two: no prefix among lines that have one."""
    return bool(owner.head.prefixes) and not line.head.prefixes


def _goes_on(owner: Line, line: Line, *, in_traceback: bool) -> bool:
    message = line.message
    if not message.strip() or message.startswith(_STARTS_ANEW):
        return False
    if line.head.prefixes:
        same_stamp = line.head.stamp is None or line.head.stamp == owner.head.stamp
        return in_traceback or (_is_indented(line) and same_stamp)
    if _is_indented(line) or message.startswith("frame #") or in_traceback:
        return True
    return bool(owner.head.prefixes) and not _is_kernel(owner.head)


def _first_line(block: Block, index: int) -> int:
    return (_first_headed if block.line(index).head.prefixes else _first_bare)(block, index)


def _first_headed(block: Block, index: int) -> int:
    """Back through the lines of the same process, to the traceback or indented block they end."""
    line, start = block.line(index), index
    if not _is_indented(line) and not _EXCEPTION.match(line.message):
        return index
    reach = MAX_RECORD_LINES if _has_traceback_before(block, index) else HEADLESS_LINES
    for earlier in range(index - 1, max(-1, index - reach), -1):
        other = block.line(earlier)
        if not other.head.prefixes or not _same_source(line.head, other.head):
            continue
        if _begins_traceback(other):
            return earlier
        if not _is_indented(other):
            return earlier if _is_indented(block.line(start)) else start
        start = earlier
    return start


def _has_traceback_before(block: Block, index: int) -> bool:
    """Does a traceback begin somewhere in reach? Most lines are told so without looking closer."""
    reach = int(block.starts[max(0, index - MAX_RECORD_LINES)])
    return block.text.find(TRACEBACK.encode(), reach, int(block.starts[index])) >= 0


def _first_bare(block: Block, index: int) -> int:
    """Back to the line with a prefix that this one goes on with, or to its traceback."""
    if block.line(index).message.startswith(_STARTS_ANEW):
        return index
    frames_from = index
    only_frames = True
    for earlier in range(index - 1, max(-1, index - MAX_RECORD_LINES), -1):
        other = block.line(earlier)
        if not other.message.strip():
            break
        if _begins_traceback(other):
            return earlier
        if other.message.startswith(_STARTS_ANEW):
            break
        if other.head.prefixes:
            indented = _is_indented(block.line(index))
            owned = indented or not _is_kernel(other.head)
            return _first_headed(block, earlier) if owned else index
        only_frames = only_frames and _is_indented(other)
        if only_frames:
            frames_from = earlier
    return frames_from


def _begins_traceback(line: Line) -> bool:
    return line.message.startswith(TRACEBACK)


def _is_indented(line: Line) -> bool:
    return line.message[:1] in {" ", "\t"}


def _same_source(one: Head, other: Head) -> bool:
    return (one.rank, one.task, one.host, one.pid) == (
        other.rank,
        other.task,
        other.host,
        other.pid,
    )


def _is_kernel(head: Head) -> bool:
    uptime = head.stamp is not None and head.stamp.clock is Clock.UPTIME
    return uptime or head.program == "kernel"


def record_of(file: str, block: Block, span: list[int], known: Stamp | None = None) -> Record:
    """The record of these lines. `known`: the last stamp before the block, to inherit."""
    lines = [block.line(index) for index in span]
    first = span[0]
    text = "\n".join([lines[0].text, *(line.message for line in lines[1:])])
    stamp = next((line.head.stamp for line in lines if line.head.stamp), None)
    inherited = stamp is None
    if stamp is None:
        stamp = stamp_before(block, first) or known
    return Record(
        file=file,
        line=block.number(first),
        offset=block.offset(first),
        lines=block.number(span[-1]) - block.number(first) + 1,
        text=text[:MAX_RECORD_CHARS],
        head=lines[0].head,
        time=stamp.time if stamp else None,
        clock=stamp.clock if stamp else Clock.NONE,
        inherited=inherited and stamp is not None,
    )


def stamp_before(block: Block, index: int) -> Stamp | None:
    """The nearest stamp of an earlier line of the block."""
    for earlier in range(index - 1, max(-1, index - TIME_LOOK_BACK), -1):
        stamp = block.line(earlier).head.stamp
        if stamp is not None:
            return stamp
    return None


def records_in(file: str, block: Block, known: Stamp | None = None) -> Iterator[Record]:
    """All records of a block, in order of their first lines; every line is in exactly one."""
    taken: set[int] = set()
    for index in range(len(block)):
        if index in taken:
            continue
        span = [one for one in _span_from(block, index) if one not in taken]
        taken.update(span)
        yield record_of(file, block, span, known)


def _span_from(block: Block, index: int) -> list[int]:
    span = span_at(block, index)
    return span if span[0] == index else [index]
