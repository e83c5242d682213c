"""Repeats: lines of a flood are counted without looking closer, in bounded memory."""

import re
from dataclasses import dataclass

from diagnosis.readers.logs_heads import Head

#: Lines that are remembered for one log. A flood of more different lines is looked at one by one.
MAX_REMEMBERED = 20_000

#: A timestamp at the start of a line, by form: what follows may depend on the form alone.
_STAMP = re.compile(
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?(?= )"
    rb"|(\[?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?)(?= )"
    rb"|([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)(?= )"
    rb"|(\[ *\d+\.\d{6}\])(?= )"
)

Said = tuple[int | None, bytes]


@dataclass(slots=True)
class Tally:
    """How often a clue's line was seen; `last` is the last one, or its head."""

    count: int = 1
    last: bytes | Head | None = None


class Repeats:
    """The lines of one log that were judged, by what they say after their timestamp."""

    def __init__(self) -> None:
        self._seen: dict[Said, Tally | None] = {}

    @staticmethod
    def said(line: bytes) -> Said:
        """What the line says, without when: the form of its timestamp, and the rest."""
        found = _STAMP.match(line)
        return (found.lastindex, line[found.end() :]) if found else (None, line)

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
