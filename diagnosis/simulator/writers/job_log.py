"""The job's logs in the form they are kept: a file a rank, a host, or one for the whole job.

Interleaved forms carry the launcher's prefix: torchrun's `[default3]:` (local rank), srun's `19: `
(global rank, aligned).
"""

import heapq
import re
from collections.abc import Iterable, Iterator

from diagnosis.simulator.cluster import Host
from diagnosis.simulator.endings import Fate
from diagnosis.simulator.run import Run
from diagnosis.simulator.story import Line, Story
from diagnosis.simulator.writers.c10d_log import watchdog_lines
from diagnosis.simulator.writers.launcher_log import srun_lines, torchrun_lines
from diagnosis.simulator.writers.nccl_log import initialisation
from diagnosis.simulator.writers.step_log import training_lines

_LEVEL = re.compile(r"\b(WARN(?:ING)?|ERROR|FutureWarning|UserWarning|Traceback)\b")
_SPEAKS_NO_MORE = frozenset({Fate.EXITED, Fate.TERMINATED, Fate.FROZEN, Fate.RUNNING})
_COLOUR = {"W": "33", "F": "33", "U": "33", "E": "31", "T": "31"}


def rank_log(run: Run, story: Story, rank: int) -> bytes:
    """`rank-<r>.log`: everything that one rank's process printed."""
    return _file(run, (line.text for line in _rank_lines(run, story, rank)))


def agent_log(run: Run, host: Host) -> bytes:
    """`<host>.torchrun.log`: what the launcher on a host printed."""
    return _file(run, (line.text for line in torchrun_lines(run, host)))


def host_log(run: Run, story: Story, host: Host) -> bytes:
    """`<host>.train.log`: launcher and ranks of one host, interleaved by time."""
    cluster = run.job.cluster
    streams = [
        _prefixed(run, _rank_lines(run, story, rank), f"[default{cluster.local_rank(rank)}]:")
        for rank in cluster.ranks_of(host)
    ]
    return _file(run, _merged(streams, torchrun_lines(run, host)))


def whole_log(run: Run, story: Story) -> bytes:
    """`slurm-<id>.out`: all ranks interleaved by time, each line labelled by srun."""
    width = len(str(run.job.world - 1))
    streams = [
        _prefixed(run, _rank_lines(run, story, rank), f"{rank:{width}}: ")
        for rank in range(run.job.world)
    ]
    return _file(run, _merged(streams, srun_lines(run)))


def _rank_lines(run: Run, story: Story, rank: int) -> list[Line]:
    lines = list(training_lines(run, rank))
    if run.job.options.nccl_debug and run.job.options.backend == "nccl":
        lines.extend(initialisation(run.job, rank))
    if run.job.options.backend == "nccl":
        lines.extend(watchdog_lines(run, rank, story.last_errors.get(rank, "")))
    lines.extend(story.rank_lines.get(rank, ()))
    if run.endings[rank].fate in _SPEAKS_NO_MORE:
        last = run.endings[rank].at
        lines = [line for line in lines if line.time <= last]
    return sorted(lines, key=lambda line: line.time)


def _prefixed(run: Run, lines: Iterable[Line], prefix: str) -> list[Line]:
    shown = f"\x1b[36m{prefix}\x1b[0m" if run.job.options.ansi else prefix
    return [
        Line(line.time, "\n".join(shown + row for row in line.text.split("\n"))) for line in lines
    ]


def _merged(streams: Iterable[list[Line]], launcher: Iterable[Line]) -> Iterator[str]:
    merged = heapq.merge(*streams, sorted(launcher, key=_time), key=_time)
    return (line.text for line in merged)


def _time(line: Line) -> float:
    return line.time


def _file(run: Run, texts: Iterable[str]) -> bytes:
    text = "".join(f"{text}\n" for text in texts)
    if run.job.options.ansi:
        text = _LEVEL.sub(lambda found: _coloured(found[1]), text)
    if run.job.options.crlf:
        text = text.replace("\n", "\r\n")
    return text.encode()


def _coloured(word: str) -> str:
    return f"\x1b[{_COLOUR[word[0]]}m{word}\x1b[0m"
