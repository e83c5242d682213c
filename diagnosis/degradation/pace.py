"""A job's own pace: the time of its iterations as it goes, and since when it is slower."""

from dataclasses import dataclass, field

import numpy as np

from diagnosis.core.metrics import TimeArray
from diagnosis.degradation.onset import OnsetSearch

#: Points that are kept of the course of iteration times.
KEPT = 720


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Iterations take longer since `onset` (seconds since 1970): typical times before and now."""

    onset: float
    before: float
    after: float

    @property
    def share(self) -> float:
        """By how much longer, relative: 0.26 for 26 %."""
        return self.after / self.before - 1


@dataclass
class Pace:
    """The course of a job's iteration times (s), and the slowdown that lasts."""

    time: TimeArray = field(default_factory=lambda: np.zeros(0))
    seconds: TimeArray = field(default_factory=lambda: np.zeros(0))
    slowdown: Slowdown | None = None


@dataclass(frozen=True)
class PaceRule:
    """A slowdown opens by `search`; it ends when the last `recent_s` are back near the old time.

    Near means that less than `ends_below` of the slowdown is left. What was usual is taken from the
    last `before_s` before the onset, since a job's pace drifts. One that ended more than
    `forget_s` ago is dropped from the course, so that it hides no later one.
    """

    search: OnsetSearch = field(default_factory=OnsetSearch)
    recent_s: float = 180.0
    ends_below: float = 0.4
    before_s: float = 1200.0
    forget_s: float = 600.0

    def follow(self, pace: Pace, time: TimeArray, seconds: TimeArray) -> None:
        """Takes in further points (ascending) and brings `slowdown` up to date."""
        last = pace.time[-1] if len(pace.time) else -np.inf
        new = (time > last) & np.isfinite(seconds)
        pace.time = np.concatenate((pace.time, time[new]))[-KEPT:]
        pace.seconds = np.concatenate((pace.seconds, seconds[new]))[-KEPT:]
        if pace.slowdown is None:
            self._look(pace)
        else:
            self._keep_up(pace, pace.slowdown)

    def _look(self, pace: Pace) -> None:
        """Only a slowdown that lasts until now counts: what has passed is past."""
        found = self.search(pace.time, pace.seconds)
        if found is None:
            return
        if found.end is None:
            earlier = pace.time < found.time
            lately = earlier & (pace.time >= found.time - self.before_s)
            before = _usual(pace.seconds[lately]) if lately.any() else found.before
            pace.slowdown = Slowdown(found.time, before, _usual(pace.seconds[~earlier]))
        elif pace.time[-1] - found.end > self.forget_s:
            since = pace.time >= found.end
            pace.time, pace.seconds = pace.time[since], pace.seconds[since]

    def _keep_up(self, pace: Pace, known: Slowdown) -> None:
        if not len(pace.time):
            return
        recent = pace.time > pace.time[-1] - self.recent_s
        now = _usual(pace.seconds[recent])
        if now - known.before < self.ends_below * (known.after - known.before):
            pace.slowdown = None
            pace.time, pace.seconds = pace.time[recent], pace.seconds[recent]
            return
        since = pace.seconds[pace.time >= known.onset]
        if len(since):
            after = max(_usual(since), known.before)
            pace.slowdown = Slowdown(known.onset, known.before, after)


def _usual(seconds: TimeArray) -> float:
    """Seconds an iteration over all of them: whole steps between reports even out, and a single
    long iteration (a checkpoint) hardly counts.
    """
    return float(1 / np.mean(1 / seconds))


def iteration_times(time: TimeArray, step: TimeArray) -> tuple[TimeArray, TimeArray]:
    """Seconds an iteration from the steps that were reached at given times.

    Points where no step was made, or steps went back (a restart), are left out.
    """
    made, took = np.diff(step), np.diff(time)
    good = (made > 0) & (took > 0)
    return time[1:][good], took[good] / made[good]
