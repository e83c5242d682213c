"""Clues put in order once, so that many others can be compared with all of them."""

from collections import Counter
from collections.abc import Sequence

from diagnosis.triage.clues import Clue, is_before


class Order:
    """What `is_before` says of one clue and of any of these, without asking each of them."""

    def __init__(self, clues: Sequence[Clue]) -> None:
        self._of_log: dict[tuple[str, str], list[Clue]] = {}
        self._first: dict[str, float] = {}
        self._on_scale: Counter[str | None] = Counter()
        self._at: Counter[tuple[str, float]] = Counter()
        for clue in clues:
            self._of_log.setdefault(clue.log, []).append(clue)
            moment = clue.moment
            self._on_scale[moment.scale if moment else None] += 1
            if moment is not None:
                first = self._first.get(moment.scale, moment.time)
                self._first[moment.scale] = min(first, moment.time)
                self._at[moment.scale, moment.time] += 1

    def any_before(self, clue: Clue) -> bool:
        """Is any of them surely before `clue`?"""
        moment = clue.moment
        if moment and self._first.get(moment.scale, moment.time) < moment.time:
            return True
        return any(is_before(other, clue) is True for other in self._of_log.get(clue.log, ()))

    def any_unsure(self, clue: Clue) -> bool:
        """Is there any of which nothing tells whether it came before `clue`?"""
        return self._untold(clue) > sum(
            _is_untold(other, clue) for other in self._of_log.get(clue.log, ())
        )

    def _untold(self, clue: Clue) -> int:
        """How many have no time, another scale's, or the same one."""
        moment = clue.moment
        everyone = self._on_scale.total()
        if moment is None:
            return everyone
        return everyone - self._on_scale[moment.scale] + self._at[moment.scale, moment.time]


def _is_untold(other: Clue, clue: Clue) -> bool:
    one, moment = other.moment, clue.moment
    return one is None or moment is None or one.scale != moment.scale or one.time == moment.time
