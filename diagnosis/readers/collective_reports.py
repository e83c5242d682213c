"""Reader of what logs say about collectives: watchdogs, RAS, desync reports, torchfrtrace output.

Streams over the lines of each log in blocks and looks closer only where a line holds one of the
few words that these programs use.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields

from diagnosis.core.collective_reports import (
    CollectiveReports,
    Line,
    RankStatement,
    WorkReport,
)
from diagnosis.core.evidence import Evidence
from diagnosis.readers.logs_blocks import read_blocks
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
#: One pattern (RE2) for each of these words, for whoever scans for them beside others.
PATTERNS = tuple(re.escape(token.decode()) for token in _TOKENS)
_ANY_TOKEN = re.compile(b"|".join(map(re.escape, _TOKENS)))
_TOTAL = b"(total)"
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


class ReportReader:
    """Reads one log's statements from the lines that hold one of the words, given in order."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._taken = 0
        self._work: list[WorkReport] = []
        self._statements: list[RankStatement] = []
        self._ras = RasText()

    @staticmethod
    def wants(data: bytes) -> bool:
        """Does this line hold one of the words?"""
        return _ANY_TOKEN.search(data) is not None

    @staticmethod
    def wants_next(data: bytes) -> bool:
        """Is this line a table heading of RAS, whose first row stands below?"""
        return _TOTAL in data

    def take(self, number: int, text: str, head: Head) -> None:
        """A line; those after the first MOST_A_LOG are passed over."""
        self._taken += 1
        if self._taken > MOST_A_LOG:
            return
        line = Line(self._evidence.name, number, text)
        self._ras.take(line)
        if (report := _work(self._evidence, line, head)) is not None:
            self._work.append(report)
        _state(line, self._statements)

    def finish(self) -> CollectiveReports:
        """What the log says; call it once, after the last line."""
        mismatches, lost = self._ras.finish()
        found = bool(self._work or mismatches or lost or self._statements)
        return CollectiveReports(
            tuple(self._work),
            tuple(mismatches),
            tuple(lost),
            tuple(self._statements),
            (self._evidence.name,) if found else (),
        )


def joined(reports: Iterable[CollectiveReports]) -> CollectiveReports:
    """The statements of several logs, in the order given."""
    every = list(reports)
    return CollectiveReports(
        *(
            tuple(item for report in every for item in getattr(report, field.name))
            for field in fields(CollectiveReports)
        )
    )


def read_collective_reports(evidence: Sequence[Evidence]) -> CollectiveReports:
    """All statements in the logs; a log that cannot be opened says nothing and never raises."""
    reports = []
    for item in sorted(evidence, key=lambda one: one.name):
        reader = ReportReader(item)
        try:
            _read(item, reader)
        except (OSError, EOFError):
            continue
        reports.append(reader.finish())
    return joined(reports)


def _read(item: Evidence, reader: ReportReader) -> None:
    with item.open() as stream:
        for block in read_blocks(stream):
            below = False
            for index in range(len(block)):
                data = block.bytes_at(int(block.starts[index]))
                if below or reader.wants(data):
                    line = block.line(index)
                    reader.take(block.number(index), line.text, line.head)
                below = reader.wants_next(data)


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
