"""Metrics that tell of one thing, taken together: a small shift of several is seen sooner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import FloatArray
from diagnosis.degradation.catalogue import MetricDefinition
from diagnosis.degradation.peers import MAD_TO_DEVIATION, Peers, median_over_time

#: What tells of the same thing, by the catalogue's ids: a GPU that computes less, one that is hot.
BLENDS: Mapping[str, tuple[str, ...]] = {
    "compute": ("gpu_sm_active", "gpu_tensor_active", "gpu_clock_mhz", "tflops_actual"),
    "heat": ("gpu_temp_c", "gpu_memtemp_c"),
}
#: A blend is steadier than its metrics, so a smaller shift of all of them matters.
FLOOR_SHARE = 0.7
#: Noise is well enough read from about this many samples.
NOISE_SAMPLES = 24
#: No metric counts for more than this many times the noisiest one.
MOST_WEIGHT = 8.0


@dataclass(frozen=True)
class Blend:
    """A weighted mean of metrics on the common scale; `rows` are theirs, `weights` add up to 1."""

    name: str
    rows: npt.NDArray[np.intp]
    weights: FloatArray

    def __call__(self, scaled: FloatArray) -> FloatArray:
        """The blend of each entity, (entities,); NaN where one of its metrics is missing."""
        mean: FloatArray = self.weights @ scaled[self.rows]
        return mean


def find_blends(
    ticks: Sequence[FloatArray], definitions: Sequence[MetricDefinition], peers: Peers
) -> tuple[Blend, ...]:
    """Blends of what is there, from samples on the common scale, (metrics, entities) each.

    Metrics weigh by how still they are. A blend of metrics that seldom answer together is none.
    """
    found = []
    for name, members in BLENDS.items():
        rows = [row for row, item in enumerate(definitions) if item.id in members]
        if len(rows) < 2:
            continue
        values = np.stack([tick[rows] for tick in ticks], axis=-1)
        if np.isfinite(values).all(axis=0).mean() < 0.5:
            continue
        found.append(Blend(name, np.array(rows, dtype=np.intp), _weights(values, peers)))
    return tuple(found)


def blended(blends: Sequence[Blend], told: Sequence[MetricDefinition]) -> list[MetricDefinition]:
    """The definitions of blends, after those of the metrics that they are made of."""
    found = list(told)
    for blend in blends:
        members = [told[row] for row in blend.rows.tolist()]
        found.append(
            MetricDefinition(
                id=blend.name,
                bad=members[0].bad,
                kind=members[0].kind,
                floor=FLOOR_SHARE * sum(item.floor for item in members) / len(members),
            )
        )
    return found


def _weights(values: FloatArray, peers: Peers) -> FloatArray:
    """One over each metric's usual noise beside its peers, from (rows, entities, samples)."""
    moved = values - median_over_time(values)[:, :, None]
    noise = [tick - peers.median(tick) for tick in np.moveaxis(moved, -1, 0)]
    size = np.nan_to_num(median_over_time(np.abs(np.stack(noise, axis=-1))))
    usual = MAD_TO_DEVIATION * np.median(size, axis=1)
    usual = np.maximum(usual, max(float(usual.max()), 1e-6) / np.float32(MOST_WEIGHT))
    weights: FloatArray = (1 / usual) / (1 / usual).sum()
    return weights.astype(np.float32)
