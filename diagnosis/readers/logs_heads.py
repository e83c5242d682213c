"""What stands before the message of a log line: time, host, rank and process.

Launchers and collectors put prefixes before prefixes (`srun -l`, pdsh, mpirun, torchrun, Ray,
container runtimes, syslog, NCCL); they are peeled off from the left, one at a time.
"""

import re
from typing import NamedTuple

from diagnosis.readers.logs_prefixes import Draft, peel
from diagnosis.readers.logs_times import Stamp, finer, stamp_at

_BLANKS = frozenset(" \t")

#: How many prefixes are peeled off at most.
MAX_PREFIXES = 12

_GLOG_TAIL = re.compile(r"\s*(?:\d+ )?[\w./<>-]+:\d+\]")


class Head(NamedTuple):
    """What a line says of itself before its message.

    `rank` is global; `local_rank` counts within the host (torchrun's `[default3]:`); `group_rank`
    is c10d's `[Rank r]`, the number within one process group, which is global only in the default
    group (`default_group` True). `task` is a label of the launcher (`srun -l`), trusted least.
    `host` is what the line's own program names, `outer_host` what its collector names. `end` is
    where the message begins. `prefixes` counts what was peeled off.
    """

    end: int = 0
    prefixes: int = 0
    stamp: Stamp | None = None
    host: str | None = None
    outer_host: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    group_rank: int | None = None
    default_group: bool | None = None
    task: int | None = None
    pid: int | None = None
    program: str | None = None

    @property
    def spoken_host(self) -> str | None:
        """The host that the line's own program names, else the one its collector names."""
        return self.host or self.outer_host


NO_HEAD = Head()


def parse_head(line: str) -> Head:
    """The prefixes of `line`, which carries neither line break nor colour codes."""
    draft = Draft()
    position = peeled(line, draft)
    if not draft.prefixes:
        return NO_HEAD
    end = position + 1 if line[position : position + 1] == " " else position
    return Head(
        end,
        draft.prefixes,
        draft.stamp,
        draft.host,
        draft.outer_host,
        draft.rank,
        draft.local_rank,
        draft.group_rank,
        draft.default_group,
        draft.task,
        draft.pid,
        draft.program,
    )


def peeled(line: str, draft: Draft) -> int:
    """Take all prefixes of `line` into `draft`; where the last one ends."""
    position = 0
    for _ in range(MAX_PREFIXES):
        end = next_prefix(line, position, draft)
        if end is None:
            break
        draft.prefixes += 1
        position = end
    return position


def next_prefix(line: str, position: int, draft: Draft) -> int | None:
    """Take the prefix that begins at `position` or after the blanks there; where it ends."""
    while line[position : position + 1] in _BLANKS:
        position += 1
    return _take_stamp(line, position, draft) or peel(line, position, draft)


def _take_stamp(line: str, start: int, draft: Draft) -> int | None:
    """A timestamp, with what follows a glog stamp: thread, file and line, up to the bracket."""
    found = stamp_at(line, start)
    if found is None:
        return None
    stamp, end = found
    draft.stamp, draft.stamp_text = finer(draft.stamp, stamp), line[start:end]
    if line[end : end + 2] == ": ":
        return end + 1
    tail = _GLOG_TAIL.match(line, end)
    return tail.end() if tail else end


def merged(outer: Head, inner: Head) -> Head:
    """The head of a line whose wrapper told `outer`: the line's own word wins.

    No collector stands before what a kernel says: `nvidia-nvswitch2: …` names a part.
    """
    stamp = inner.stamp
    if outer.stamp is not None:
        stamp = outer.stamp if stamp is None else finer(outer.stamp, stamp)
    return inner._replace(
        prefixes=inner.prefixes + outer.prefixes,
        stamp=stamp,
        outer_host=(outer.outer_host if outer.program == "kernel" else None)
        or inner.outer_host
        or outer.outer_host,
        rank=outer.rank if inner.rank is None else inner.rank,
        program=inner.program or outer.program,
    )
