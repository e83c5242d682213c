"""Metrics of all units on one scale, on which equal steps are equal relative changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import FloatArray
from diagnosis.degradation.blends import Blend
from diagnosis.degradation.catalogue import Direction, MetricDefinition, MetricKind

BoolArray = npt.NDArray[np.bool_]

#: Below this share of its usual level a gauge counts as being at zero.
ZERO_SHARE = 0.1
#: An unknown metric's own noise, times this, is the size below which a change means nothing.
NOISE_SHARE = 2.0
#: Counters are bursty by nature; this quantile over time is the height of a harmless burst.
PEAK_QUANTILE = 0.97
#: A level is read from about this many samples of each entity, and from so many entities.
LEVEL_SAMPLES, LEVEL_ENTITIES = 16, 256
#: No usual deviation is smaller than this share of the smallest change that matters.
LEAST_SHARE = np.float32(0.1)
#: What is told in this unit is memory in use.
MEMORY_UNIT = "GB"
_TINY = 1e-9
_SIGN = {Direction.LOW: -1.0, Direction.HIGH: 1.0, Direction.EITHER: 0.0}


@dataclass(frozen=True)
class Scaling:
    """`y = sign(x) · log(1 + |x| / unit)` per metric, and what the catalogue says about it.

    Far above `unit` a step of 0.1 is a change of about 10 %; far below, the scale is linear, so
    counters near zero and gauges that fall to zero stay finite. All arrays have shape
    (metrics, 1), so that they broadcast over entities; `sign` is 1 where high is bad, -1 where low
    is, 0 where both are; `memory` marks what processes hold, and let go of when they end. All but
    `unit` have a row more for each of the `blends`.
    """

    unit: FloatArray
    floor: FloatArray
    sign: FloatArray
    abnormal: BoolArray
    activity: BoolArray
    memory: BoolArray
    blends: tuple[Blend, ...] = ()

    @cached_property
    def per_unit(self) -> FloatArray:
        """What values are multiplied by to be in units of their metric."""
        return np.float32(1.0) / self.unit

    @cached_property
    def least(self) -> FloatArray:
        """The smallest deviation that counts as usual: hosts at rest are not infinitely still."""
        return LEAST_SHARE * self.floor

    @cached_property
    def either(self) -> npt.NDArray[np.intp]:
        """Rows in which both directions are bad."""
        return np.flatnonzero(self.sign[:, 0] == 0)

    def __call__(self, values: FloatArray) -> FloatArray:
        """Values of shape (metrics, entities) on the common scale, blends below them; NaN stays."""
        metrics, entities = values.shape
        rows = np.empty((metrics + len(self.blends), entities), np.float32)
        scaled = np.multiply(values, self.per_unit, out=rows[:metrics])
        if scaled.min() >= 0:
            np.log1p(scaled, out=scaled)
        else:
            np.copysign(np.log1p(np.abs(scaled)), scaled, out=scaled)
        for number, blend in enumerate(self.blends):
            rows[metrics + number] = blend(scaled)
        return rows

    def undo(self, scaled: float, metric: int) -> float:
        """One value back in the metric's own unit."""
        size = float(self.unit[metric, 0]) * float(np.expm1(min(abs(scaled), 80.0)))
        return size if scaled >= 0 else -size


def fit_scaling(values: FloatArray, definitions: Sequence[MetricDefinition]) -> Scaling:
    """The scaling for metrics, from calm samples (metrics, entities, samples)."""
    units = [
        _unit(samples, definition) for samples, definition in zip(values, definitions, strict=True)
    ]
    return scaling_of(_floats(units), definitions)


def scaling_of(
    unit: FloatArray, definitions: Sequence[MetricDefinition], blends: Sequence[Blend] = ()
) -> Scaling:
    """The scaling with these units, (metrics, 1), and what the definitions say (blends last)."""
    return Scaling(
        blends=tuple(blends),
        unit=unit,
        floor=_floats([item.floor for item in definitions]),
        sign=_floats([_SIGN[item.bad] for item in definitions]),
        abnormal=_flags([item.kind is MetricKind.ABNORMAL for item in definitions]),
        activity=_flags([item.kind is MetricKind.ACTIVITY for item in definitions]),
        memory=_flags([item.unit == MEMORY_UNIT for item in definitions]),
    )


def _unit(samples: FloatArray, definition: MetricDefinition) -> float:
    samples = samples[:: max(1, len(samples) // LEVEL_ENTITIES)]
    few = samples[:, :: max(1, samples.shape[1] // LEVEL_SAMPLES)]
    present = few[np.isfinite(few)]
    level = float(np.median(np.abs(present))) if present.size else 0.0
    if definition.scale is not None:
        return max(definition.scale, _usual_peak(samples))
    unit = ZERO_SHARE * level
    if not definition.known and present.size:
        steps = np.diff(samples, axis=-1)
        steps = steps[np.isfinite(steps)]
        noise = 1.4826 * float(np.median(np.abs(steps))) / np.sqrt(2) if steps.size else 0.0
        unit = max(unit, NOISE_SHARE * noise, 0.1 * float(np.mean(np.abs(present))))
    return max(unit, _TINY)


def _usual_peak(samples: FloatArray) -> float:
    """What a typical entity exceeds in one sample out of thirty: the height of harmless bursts."""
    ordered = np.sort(samples, axis=1)
    present = np.count_nonzero(~np.isnan(ordered), axis=1)
    at = np.maximum(np.ceil(PEAK_QUANTILE * present).astype(np.intp) - 1, 0)
    peaks = ordered[np.arange(len(ordered)), at]
    peaks = peaks[present > 0]
    return float(np.median(peaks)) if peaks.size else 0.0


def _floats(items: Sequence[float]) -> FloatArray:
    return np.array(items, dtype=np.float32)[:, None]


def _flags(items: Sequence[bool]) -> BoolArray:
    return np.array(items, dtype=np.bool_)[:, None]


def bad_size(distance: FloatArray, scaling: Scaling) -> FloatArray:
    """Distances in the bad direction as positive numbers, in the good one as negative."""
    size = distance * scaling.sign
    for row in scaling.either.tolist():
        np.abs(distance[row], out=size[row])
    return size
