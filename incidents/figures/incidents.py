"""The paper's figures (NSDI '25, section 6) of a set of incidents, and those of operations."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incidents.figures.judging import Precision, top

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Counted:
    """What is counted of incidents: columns of one length, NaN where unknown.

    Times are in seconds, `opened` since 1970. `lost_s` is lost to diagnosis: from the job's stop or
    the hang's onset until someone decided what to do. Mitigation and resolution are decisions as
    well; what still waits loses until now. `idle_s` is how long its GPUs stood idle for it.
    `located`, `right` and `confirmed` are 0 or 1, `fault` a code, empty where none is named.
    """

    opened: Floats
    lost_s: Floats
    idle_s: Floats
    gpu_count: Floats
    detect_s: Floats
    acknowledge_s: Floats
    resolve_s: Floats
    located: Floats
    right: Floats
    confirmed: Floats
    place: Floats
    fault: NDArray[np.object_]

    @classmethod
    def of(cls, rows: Iterable[tuple[Any, ...]]) -> "Counted":
        """From rows of the columns in their order, None for unknown."""
        names = [one.name for one in fields(cls)]
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        known: dict[str, NDArray[Any]] = {
            name: np.array(column, np.float64)
            for name, column in zip(names[:-1], columns[:-1], strict=True)
        }
        return cls(**known, fault=np.array([code or "" for code in columns[-1]], np.object_))

    def __len__(self) -> int:
        return len(self.opened)

    def at(self, places: NDArray[np.intp]) -> "Counted":
        """The incidents at these places."""
        return replace(self, **{one.name: getattr(self, one.name)[places] for one in fields(self)})


@dataclass(frozen=True, slots=True)
class Figures:
    """Of some incidents; times are medians in seconds, None where no incident tells.

    `diagnosis_s` is the time lost to diagnosis, `diagnosis_hours` its sum in hours; `located` the
    share that an answer named the cause of while the evidence of the run was all there was.
    """

    incidents: int
    diagnosis_s: float | None
    diagnosis_hours: float
    located: float | None
    precision: Precision
    top1: float | None
    top3: float | None
    detect_s: float | None
    acknowledge_s: float | None
    resolve_s: float | None
    gpu_hours: float


def figures_of(counted: Counted) -> Figures:
    """The figures of these incidents."""
    lost = np.maximum(counted.lost_s, 0)
    decided = ~np.isnan(counted.right)
    places = counted.place[decided & ~np.isnan(counted.place)]
    return Figures(
        incidents=len(counted),
        diagnosis_s=_median(lost),
        diagnosis_hours=float(lost.sum()) / 3600,
        located=float(counted.located.mean()) if len(counted) else None,
        precision=Precision(
            right=int(counted.right[decided].sum()),
            decided=int(decided.sum()),
            confirmed=int(np.nansum(counted.confirmed[decided])),
        ),
        top1=top(places, 1),
        top3=top(places, 3),
        detect_s=_median(counted.detect_s),
        acknowledge_s=_median(counted.acknowledge_s),
        resolve_s=_median(counted.resolve_s),
        gpu_hours=float((counted.gpu_count * np.maximum(counted.idle_s, 0)).sum()) / 3600,
    )


def _median(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return max(float(np.median(known)), 0.0) if len(known) else None
