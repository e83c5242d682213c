"""Reader of what logs say about collectives: watchdogs, RAS, desync reports, torchfrtrace output.

Streams over the lines of each log in blocks and looks closer only where a line holds one of the
few words that these programs use.
"""

import re
from collections.abc import Iterator, Sequence

from diagnosis.core.collective_reports import (
    CollectiveReports,
    Line,
    LostProcess,
    RankStatement,
    RasMismatch,
    WorkReport,
)
from diagnosis.core.evidence import Evidence
from diagnosis.readers.logs_blocks import Block, read_blocks
from diagnosis.readers.logs_c10d import watchdog_report
from diagnosis.readers.logs_heads import Head
from diagnosis.readers.nccl_ras import TOKENS as RAS_TOKENS
from diagnosis.readers.nccl_ras import RasText
from diagnosis.readers.origin import origin_of

#: Statements kept for one log; a watchdog that repeats itself for hours adds nothing after that.
MOST_A_LOG = 20_000

_TOKENS = (
    *RAS_TOKENS, b"WorkNCCL", b"NCCL work", b"enqueued work", b"dump signal", b"desync",
    b"join collective", b"finish collective", b"lagging ranks", b"missing ranks",
    b"expected ranks", b"(total)", b"Culprit rank", b"ncclEnqueueCheck", b"ncclProxySaveOp",
)  # fmt: skip
_WANTED = re.compile(b"|".join(re.escape(token) for token in _TOKENS))
_TOTALS_NEXT = re.compile(rb"\(total\)[^\n]*\n")
_DESYNC = re.compile(
    r"\[(?P<ranks>[\d, ]+)\] finished collective #\d+, but didn't join collective #\d+"
)
_NEVER = re.compile(r"ranks? \[(?P<ranks>[\d, ]+)\] (?:are|is) the lagging ranks?")
_UNFINISHED = re.compile(r"\[(?P<ranks>[\d, ]+)\] joined but didn't finish collective #\d+")
_MISSING = re.compile(r"^\s*missing ranks: \{(?P<ranks>[\d, ]+)\}")
_CULPRIT = re.compile(r"Culprit rank (?P<ranks>\d+); Error type: (?P<error>\w+)")
#: A stack with the rank before it: the launch was entered and has not returned.
_STACK = re.compile(
    r"\b[Rr]ank (?P<ranks>\d+)\b[^:]{0,40}:.*\bnccl(?:EnqueueCheck|ProxySaveOp|LocalOpAppend)\b"
)
_EXPECTED = re.compile(r"^\s*expected ranks: \{(?P<ranks>[\d, ]+)\}")


def read_collective_reports(evidence: Sequence[Evidence]) -> CollectiveReports:
    """All statements in the logs; a log that cannot be opened says nothing and never raises."""
    work: list[WorkReport] = []
    mismatches: list[RasMismatch] = []
    lost: list[LostProcess] = []
    statements: list[RankStatement] = []
    sources = []
    for item in sorted(evidence, key=lambda one: one.name):
        before = len(work) + len(mismatches) + len(lost) + len(statements)
        ras = RasText()
        try:
            for line, head in _wanted_lines(item):
                ras.take(line)
                if (report := _work(item, line, head)) is not None:
                    work.append(report)
                _state(line, statements)
        except (OSError, EOFError):
            continue
        found, gone = ras.finish()
        mismatches += found
        lost += gone
        if len(work) + len(mismatches) + len(lost) + len(statements) > before:
            sources.append(item.name)
    return CollectiveReports(
        tuple(work), tuple(mismatches), tuple(lost), tuple(statements), tuple(sources)
    )


def _wanted_lines(item: Evidence) -> Iterator[tuple[Line, Head]]:
    taken = 0
    with item.open() as stream:
        for block in read_blocks(stream):
            for index in _wanted(block):
                taken += 1
                if taken > MOST_A_LOG:
                    return
                text = block.line(index)
                yield Line(item.name, block.number(index), text.text), text.head


def _wanted(block: Block) -> list[int]:
    """Indices of lines with one of the words, and of the row below RAS's table heading."""
    wanted = {block.index_at(found.start()) for found in _WANTED.finditer(block.text)}
    below = {block.index_at(found.end()) for found in _TOTALS_NEXT.finditer(block.text)}
    return sorted(index for index in wanted | below if index < len(block))


def _work(item: Evidence, line: Line, head: Head) -> WorkReport | None:
    report = watchdog_report(line.text)
    if report is None or (report.relayed and report.enqueued is None):
        return None
    group = report.group or "default"
    rank = origin_of(item).rank if head.rank is None else head.rank
    if rank is None and group == "default":
        rank = head.group_rank
    if rank is None:
        return None
    completed = report.completed
    if None not in {report.enqueued, completed} and completed > report.enqueued:  # type: ignore[operator]
        completed = None
    return WorkReport(
        rank=rank,
        group=group,
        sequence=report.sequence,
        operation=report.operation or "",
        enqueued=report.enqueued,
        completed=completed,
        timed_out=report.timed_out,
        line=line,
    )


def _state(line: Line, statements: list[RankStatement]) -> None:
    text = line.text
    if found := _DESYNC.search(text) or _NEVER.search(text):
        statements.append(RankStatement("desync", _ranks(found), (), line))
    elif found := _UNFINISHED.search(text):
        statements.append(RankStatement("desync-unfinished", _ranks(found), (), line))
    elif found := _MISSING.match(text):
        statements.append(RankStatement("torchfrtrace", _ranks(found), (), line))
    elif found := _CULPRIT.search(text):
        statements.append(RankStatement("torchfrtrace-mismatch", _ranks(found), (), line))
    elif found := _STACK.search(text):
        statements.append(RankStatement("stack", _ranks(found), (), line))
    elif (found := _EXPECTED.match(text)) and statements:
        last = statements[-1]
        if last.source == "torchfrtrace" and not last.members:
            statements[-1] = RankStatement(last.source, last.ranks, _ranks(found), last.line)


def _ranks(found: re.Match[str]) -> tuple[int, ...]:
    return tuple(sorted({int(part) for part in found["ranks"].split(",") if part.strip()}))
