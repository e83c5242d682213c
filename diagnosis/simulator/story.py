"""What a scenario adds to the log files, and the truth that it was written from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from diagnosis.simulator.truth import Truth


@dataclass(frozen=True, slots=True)
class Line:
    """A record of a log, `time` seconds after the job's start; the text may span lines."""

    time: float
    text: str


@dataclass(frozen=True)
class Story:
    """Lines that only this fault causes, by rank and by host (kernel), beside the usual ones.

    `last_errors` is what the communication library last said on ranks that saw a remote error.
    """

    truth: Truth
    rank_lines: Mapping[int, tuple[Line, ...]] = field(default_factory=dict)
    kernel_lines: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)
    last_errors: Mapping[int, str] = field(default_factory=dict)
