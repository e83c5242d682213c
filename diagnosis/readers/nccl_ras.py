"""NCCL's RAS answers in text form, alone or inside a log (NCCL 2.24 on, src/ras/client_support.cc).

`#group-comm (hash) MISMATCH` opens a block; `N ranks have launched up to operation M` gives a
count; members are listed only for small outlier groups, on the same line or on lines below.
"""

import re
from dataclasses import dataclass, field

from diagnosis.core.collective_reports import Line, LostProcess, RasCount, RasMismatch, RasRank

_TOTALS = re.compile(r"^\s*\d+\s+\d+\s+\d+\s+(?P<processes>\d+)\s+(?P<gpus>\d+)\s*$")
_GROUP_ROW = re.compile(
    r"^\s*(?P<group>\d+)\s+\d+\s+\S+\s+\S+\s+(?P<size>\d+)\s+\d+\s+(?:[A-Z]{4,}\s+)+[A-Z]{2,}\s*$"
)
_BLOCK = re.compile(r"#(?P<group>\d+)-\d+ \((?P<hash>[0-9a-f]{8,16})\) (?P<kind>[A-Z]+)")
_COUNTS_OF = re.compile(r"ranks have different (?:(?P<op>\w+) )?operation counts")
_LAUNCHED = re.compile(
    r"(?:Rank (?P<rank>\d+)|(?P<number>\d+) ranks?) ha(?:s|ve) "
    r"(?:launched up to operation (?P<count>\d+)|not launched any operations)"
)
_PROCESS = re.compile(r"GPUs? (?P<gpu>[\d,]+) managed by process \d+ on node (?P<node>[^\s,]+)")
_LISTED = re.compile(r"^\s*Rank (?P<rank>\d+) -- ")
_LOST = re.compile(r"Process \d+ on node (?P<node>\S+) managing GPUs? (?P<gpu>[\d,]+)")
_DEAD = re.compile(r"^\s*DEAD\s*$|considered dead|PEER_DEAD")
_HEADING = re.compile(r"^(?:INCOMPLETE|TIMEOUT|Errors|Warnings|=+)\s*$")

#: What a line needs to contain to be worth looking at.
TOKENS = (
    b"launched", b"managed by process", b"managing GPU", b"considered dead", b"operation counts",
    b"PEER_DEAD", b"MISMATCH", b"INCOMPLETE", b"DEAD", b"RUNNING",
)  # fmt: skip


@dataclass
class _Open:
    """The communicator block that is being read."""

    group: int
    hash: str
    kind: str
    line: Line
    operation: str = "collective"
    counts: list[RasCount] = field(default_factory=list)


class RasText:
    """Takes the lines of one piece of evidence in order; `finish` gives what they said."""

    def __init__(self) -> None:
        self._gpus = 0
        self._sizes: dict[int, int] = {}
        self._open: _Open | None = None
        self._dead = False
        self._mismatches: list[RasMismatch] = []
        self._lost: list[LostProcess] = []

    def take(self, line: Line) -> None:
        text = line.text
        if found := _BLOCK.search(text):
            self._close()
            self._open = _Open(int(found["group"]), found["hash"], found["kind"], line)
        elif found := _LOST.search(text):
            dead = self._dead or "PEER_DEAD" in text
            self._lost.append(LostProcess(found["node"], found["gpu"], dead, line))
        elif _DEAD.search(text):
            self._dead = True
        elif _HEADING.match(text.strip()):
            self._dead = False
        elif found := _TOTALS.match(text):
            self._gpus = int(found["gpus"])
        elif found := _GROUP_ROW.match(text):
            self._sizes[int(found["group"])] = int(found["size"])
        elif self._open is not None:
            self._inside(self._open, text)

    def finish(self) -> tuple[list[RasMismatch], list[LostProcess]]:
        self._close()
        return self._mismatches, self._lost

    def _inside(self, block: _Open, text: str) -> None:
        if found := _COUNTS_OF.search(text):
            if block.counts:
                self._close()
                block = self._open = _Open(block.group, block.hash, block.kind, block.line)
            block.operation = found["op"] or "collective"
        elif found := _LAUNCHED.search(text):
            ranks: tuple[RasRank, ...] = ()
            if found["rank"]:
                ranks = (_ras_rank(int(found["rank"]), text),)
            number = 1 if found["rank"] else int(found["number"])
            block.counts.append(RasCount(int(found["count"] or 0), number, ranks))
        elif (found := _LISTED.match(text)) and block.counts:
            last = block.counts[-1]
            ranks = (*last.ranks, _ras_rank(int(found["rank"]), text))
            block.counts[-1] = RasCount(last.launched, last.number, ranks)

    def _close(self) -> None:
        block, self._open = self._open, None
        if block is None or len(block.counts) < 2:
            return
        size = self._sizes.get(block.group, 0)
        self._mismatches.append(
            RasMismatch(
                communicator=block.hash,
                operation=block.operation,
                counts=tuple(_together(block.counts)),
                whole_job=size == self._gpus > 0 or not self._sizes,
                line=block.line,
            )
        )


def _ras_rank(rank: int, text: str) -> RasRank:
    found = _PROCESS.search(text)
    return RasRank(rank, found["node"], found["gpu"]) if found else RasRank(rank)


def _together(counts: list[RasCount]) -> list[RasCount]:
    """Rows of the same count as one, fewest launches first."""
    joined: dict[int, RasCount] = {}
    for row in counts:
        known = joined.get(row.launched, RasCount(row.launched, 0))
        joined[row.launched] = RasCount(
            row.launched, known.number + row.number, (*known.ranks, *row.ranks)
        )
    return [joined[launched] for launched in sorted(joined)]
