"""A report: figures over time, against the time before, and by fault."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incidents.figures.degradation import Pace, accumulated
from incidents.figures.incidents import Counted, Figures, figures_of
from incidents.figures.periods import Period


@dataclass(frozen=True, slots=True)
class Seen:
    """What was read for one period; times in seconds since 1970.

    `restarts` and `held` are when attempts began and hosts were held, `paces` hour, seconds of all
    iterations that were seen in it, and seconds of excess.
    """

    incidents: Counted
    restarts: Sequence[float]
    held: Sequence[float]
    paces: Sequence[tuple[float, float, float]]


@dataclass(frozen=True, slots=True)
class Step:
    """The figures of one step of the period, or of all of it."""

    period: Period
    figures: Figures
    restarts: int
    held: int
    degradation: float | None


@dataclass(frozen=True, slots=True)
class FaultRow:
    """The figures of the incidents whose answer names this fault first; empty: none is named."""

    fault: str
    figures: Figures


@dataclass(frozen=True, slots=True)
class Report:
    """The whole period, the one of the same length before it, its steps, and its faults."""

    total: Step
    before: Step
    steps: Sequence[Step]
    faults: Sequence[FaultRow]


def report_of(period: Period, seen: Seen, earlier: Seen) -> Report:
    """The report, from what was read for the period and for the time before it."""
    return Report(
        total=_step(period, seen),
        before=_step(period.before, earlier),
        steps=over_time(period, seen),
        faults=by_fault(seen.incidents),
    )


def over_time(period: Period, seen: Seen) -> Sequence[Step]:
    """The figures step by step, empty steps included."""
    steps = period.steps()
    hours = [hour for hour, _, _ in seen.paces]
    parts = zip(
        _split(period, seen.incidents.opened),
        _split(period, seen.restarts),
        _split(period, seen.held),
        _split(period, hours),
        strict=True,
    )
    return [
        _step(
            step,
            Seen(
                incidents=seen.incidents.at(incidents),
                restarts=[seen.restarts[place] for place in restarts],
                held=[seen.held[place] for place in held],
                paces=[seen.paces[place] for place in paces],
            ),
        )
        for step, (incidents, restarts, held, paces) in zip(steps, parts, strict=True)
    ]


def by_fault(incidents: Counted) -> Sequence[FaultRow]:
    """The figures of each fault, the one that cost most GPU-hours first."""
    groups: dict[str, list[int]] = defaultdict(list)
    for place, fault in enumerate(incidents.fault):
        groups[fault].append(place)
    rows = [
        FaultRow(fault, figures_of(incidents.at(np.array(places))))
        for fault, places in groups.items()
    ]
    return sorted(rows, key=lambda row: (-row.figures.gpu_hours, row.fault))


def change(now: float | None, before: float | None) -> float | None:
    """By how much more or less, relative to before; None where it cannot be told."""
    if now is None or not before:
        return None
    return now / before - 1


def _step(period: Period, seen: Seen) -> Step:
    paces = [Pace(0.0, seconds, excess) for _, seconds, excess in seen.paces]
    return Step(
        period=period,
        figures=figures_of(seen.incidents),
        restarts=len(seen.restarts),
        held=len(seen.held),
        degradation=accumulated(paces),
    )


def _split(
    period: Period, times: Sequence[float] | NDArray[np.float64]
) -> Sequence[NDArray[np.intp]]:
    """Which of the times are in each step."""
    places = period.places_of(times)
    order = np.argsort(places, kind="stable")
    ends = np.searchsorted(places[order], np.arange(1, len(period.steps())))
    return np.split(order, ends)
