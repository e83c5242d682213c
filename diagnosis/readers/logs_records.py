"""Records: one statement of a program, which may take several lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnosis.readers.line_ends import breaks_between
from diagnosis.readers.logs_blocks import Block
from diagnosis.readers.logs_heads import Head
from diagnosis.readers.logs_lines import Line
from diagnosis.readers.logs_times import Clock, Stamp, may_hold_stamp

#: How far a record reaches from one of its lines, in lines, and how long its text may get.
MAX_RECORD_LINES = 120
MAX_RECORD_CHARS = 20_000

#: How far back indented lines are taken into a record that has no traceback's head; it
#: reaches twice as far in all.
HEADLESS_LINES = 16

#: How far back a line without time looks for one.
TIME_LOOK_BACK = 200

TRACEBACK = "Traceback (most recent call last)"
_TRACEBACK_BYTES = TRACEBACK.encode()
#: Bytes that the lines in a record's reach seldom fill: a traceback is looked for there first.
_NEAR_BYTES = 1 << 14
#: Bytes at the start of a stamped line that lines of the same day share in most grammars.
_SAME_DAY = 6
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


def span_at(block: Block, start: int) -> list[int]:
    """Starts of the lines of the record that holds the line at byte `start`, ascending.

    Lines that another process wrote in between are left out; a line without any prefix belongs to
    the line right before it.
    """
    first = _first_line(block, start)
    owner = block.line_at(first)
    span, adjacent = [first], True
    in_traceback = _begins_traceback(owner) or _is_indented(owner)
    reach = MAX_RECORD_LINES if _begins_traceback(owner) else 2 * HEADLESS_LINES
    named = _named_by(owner.head)
    for later in block.starts_after(first, reach - 1):
        if _is_plainly_others(block, later, owner, named):
            if not in_traceback:
                break
            adjacent = False
            continue
        line = block.line_at(later)
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
    return span if start in span else [start]


def _is_plainly_others(block: Block, start: int, owner: Line, named: bytes) -> bool:
    """Is it stamped like the owner's line, without naming its process? Told without parsing it."""
    if owner.head.stamp is None:
        return False
    line = block.bytes_at(start)
    return line.startswith(owner.data[:_SAME_DAY]) and not _names(block, start, line, named)


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


def _first_line(block: Block, start: int) -> int:
    return (_first_headed if block.line_at(start).head.prefixes else _first_bare)(block, start)


def _first_headed(block: Block, begin: int) -> int:
    """Back through the lines of the same process, to the traceback or indented block they end."""
    line, start = block.line_at(begin), begin
    if not _is_indented(line) and not _EXCEPTION.match(line.message):
        return begin
    reach = MAX_RECORD_LINES if _has_traceback_before(block, begin) else HEADLESS_LINES
    named = _named_by(line.head)
    for earlier in block.starts_before(begin, reach - 1):
        if not _names(block, earlier, block.bytes_at(earlier), named):
            continue
        other = block.line_at(earlier)
        if not other.head.prefixes or not _same_source(line.head, other.head):
            continue
        if _begins_traceback(other):
            return earlier
        if not _is_indented(other):
            return earlier if _is_indented(block.line_at(start)) else start
        start = earlier
    return start


def _holds_number(line: bytes, digits: bytes) -> bool:
    """Does the number stand in the line as a whole, with no digit beside it?"""
    at = line.find(digits)
    while at >= 0:
        end = at + len(digits)
        if not line[at - 1 : at].isdigit() and not line[end : end + 1].isdigit():
            return True
        at = line.find(digits, at + 1)
    return False


def _named_by(head: Head) -> bytes:
    """What every line of the same process holds: its rank, else its host; empty for neither."""
    return (head.host or "" if head.rank is None else str(head.rank)).encode()


def _names(block: Block, start: int, line: bytes, named: bytes) -> bool:
    """Does the `line` at byte `start`, or the JSON around it, name the process?"""
    if named.isdigit():
        return _holds_number(line, named) or (
            block.around is not None and _holds_number(block.around_at(start), named)
        )
    return named in line or (block.around is not None and named in block.around_at(start))


def _has_traceback_before(block: Block, start: int) -> bool:
    """Does a traceback begin somewhere in reach? Most lines are told so without looking closer."""
    text, low = block.text, max(0, start - _NEAR_BYTES)
    at = text.rfind(_TRACEBACK_BYTES, low, start)
    if at < 0 and low and text.count(b"\n", low, start) <= MAX_RECORD_LINES:
        furthest = min(block.starts_before(start, MAX_RECORD_LINES), default=start)
        at = text.rfind(_TRACEBACK_BYTES, furthest, start)
    return at >= 0 and breaks_between(text, at, start) <= MAX_RECORD_LINES


def _first_bare(block: Block, begin: int) -> int:
    """Back to the line with a prefix that this one goes on with, or to its traceback."""
    line = block.line_at(begin)
    if line.message.startswith(_STARTS_ANEW):
        return begin
    frames_from = begin
    only_frames = True
    for earlier in block.starts_before(begin, MAX_RECORD_LINES - 1):
        other = block.line_at(earlier)
        if not other.message.strip():
            break
        if _begins_traceback(other):
            return earlier
        if other.message.startswith(_STARTS_ANEW):
            break
        if other.head.prefixes:
            owned = _is_indented(line) or not _is_kernel(other.head)
            return _first_headed(block, earlier) if owned else begin
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
    """The record of the lines that start at `span`. `known`: the last stamp before the block."""
    lines = [block.line_at(start) for start in span]
    text = "\n".join([lines[0].text, *(line.message for line in lines[1:])])
    stamp = next((line.head.stamp for line in lines if line.head.stamp), None)
    inherited = stamp is None
    if stamp is None:
        stamp = nearest_stamp(block, span[0]) or known
    number = block.number_at(span[0])
    return Record(
        file=file,
        line=number,
        offset=block.offset_at(span[0]),
        lines=block.number_at(span[-1]) - number + 1 if len(span) > 1 else 1,
        text=text[:MAX_RECORD_CHARS],
        head=lines[0].head,
        time=stamp.time if stamp else None,
        clock=stamp.clock if stamp else Clock.NONE,
        inherited=inherited and stamp is not None,
    )


def nearest_stamp(block: Block, position: int) -> Stamp | None:
    """The nearest stamp of the lines of the block that begin before a byte of its text."""
    end = position
    for start in block.starts_before(position, TIME_LOOK_BACK):
        if block.around is not None or may_hold_stamp(block.text, start, end):
            stamp = block.line_at(start).head.stamp
            if stamp is not None:
                return stamp
        end = start
    return None


def records_in(file: str, block: Block, known: Stamp | None = None) -> Iterator[Record]:
    """All records of a block, in order of their first lines; every line is in exactly one."""
    taken: set[int] = set()
    for start in block.starts.tolist():
        if start in taken:
            continue
        span = [one for one in _span_from(block, start) if one not in taken]
        taken.update(span)
        yield record_of(file, block, span, known)


def _span_from(block: Block, start: int) -> list[int]:
    span = span_at(block, start)
    return span if span[0] == start else [start]
