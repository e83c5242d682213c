"""Repeats: lines of a flood are counted without looking closer, in bounded memory."""

import re
from dataclasses import dataclass

from diagnosis.readers.logs_c10d import WatchdogReport
from diagnosis.readers.logs_heads import Head
from diagnosis.taxonomy.matcher import Match

#: Lines that are remembered for one log. A flood of more different lines is looked at one by one.
MAX_REMEMBERED = 20_000

#: A timestamp at the start of a line, by form: what follows may depend on the form alone.
_STAMP = re.compile(
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?(?= )"
    rb"|(\[?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?)(?= )"
    rb"|([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)(?= )"
    rb"|(\[ *\d+\.\d{6}\])(?= )"
)

#: The rank that torchrun and PyTorch put before a line.
_RANK = re.compile(rb" \[rank(\d{1,6})\]: ?")

#: What a line says without when: the form of its timestamp, its `[rankN]`, and the rest.
Said = tuple[int | None, int | None, bytes]


@dataclass(slots=True)
class Tally:
    """How often a clue's line was seen; `last` is the last one, or its head."""

    count: int = 1
    last: bytes | Head | None = None


@dataclass(frozen=True, slots=True)
class Saying:
    """How a line of some rank was judged, for the same words of another one."""

    match: Match
    head: Head
    report: WatchdogReport | None


class Repeats:
    """The lines of one log that were judged, by what they say after their timestamp."""

    def __init__(self) -> None:
        self._seen: dict[Said, Tally | None] = {}
        self._sayings: dict[tuple[int | None, bytes], Saying] = {}

    @staticmethod
    def said(line: bytes) -> Said:
        """What the line says; lines of the same words differ in time alone."""
        found = _STAMP.match(line)
        form, end = (found.lastindex, found.end()) if found else (None, 0)
        ranked = _RANK.match(line, end) if found else None
        if ranked is None:
            return form, None, line[end:]
        return form, int(ranked[1]), line[ranked.end() :]

    def counted(self, said: Said, line: bytes) -> bool:
        """Count a line that was judged before; False for a new one."""
        if said not in self._seen:
            return False
        tally = self._seen[said]
        if tally is not None:
            tally.count += 1
            tally.last = line
        return True

    def remember(self, said: Said, tally: Tally | None) -> None:
        """What the line was counted to; None where it means nothing."""
        if len(self._seen) < MAX_REMEMBERED:
            self._seen[said] = tally

    def saying(self, said: Said) -> Saying | None:
        """What lines of these words are, whichever rank speaks; None where that is not known."""
        return self._sayings.get((said[0], said[2])) if said[1] is not None else None

    def learn(self, said: Said, saying: Saying) -> None:
        """Lines of these words are this, whichever rank speaks."""
        if len(self._sayings) < MAX_REMEMBERED:
            self._sayings[said[0], said[2]] = saying
