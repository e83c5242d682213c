"""Who is compared with whom: hosts of one pipeline stage, and robust statistics over them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import FloatArray
from diagnosis.core.placement import Placement
from diagnosis.core.target import normalise_host

#: A stage with fewer hosts than this has no peers of its own and joins the whole job.
MIN_ROLE_HOSTS = 4
MAD_TO_DEVIATION = np.float32(1.4826)
P80_TO_DEVIATION = np.float32(1 / 1.2816)
#: The median of half as many entities is within a ninth of their deviation; rows up to this length
#: are sorted in a tenth of the time that a partition takes.
ENOUGH = 256
#: From here on several hosts of a group can be bad without touching the 80th percentile.
LARGE_GROUP = 12
_BLOCK = 16


@dataclass(frozen=True)
class Peers:
    """Groups of entities that are alike.

    `order` sorts entities so that each group is one slice of `bounds`; `host` numbers the host of
    each entity (several devices share one), all in sorted order.
    """

    order: npt.NDArray[np.intp]
    bounds: tuple[tuple[int, int], ...]
    host: npt.NDArray[np.intp]

    @cached_property
    def in_order(self) -> bool:
        """Do the entities come in this order anyway?"""
        return bool(np.array_equal(self.order, np.arange(len(self.order))))

    def median(self, values: FloatArray) -> FloatArray:
        """The median over each group, shape (metrics, entities): every entity gets its group's."""
        return self._spread_out([row_median(part) for part in self._parts(values)])

    def deviation(self, centred: FloatArray) -> FloatArray:
        """The robust deviation of centred values over each group, as in `median`.

        The median of the sizes (MAD); in large groups their 80th percentile, since saturated gauges
        put half of a group at one value.
        """
        return self._spread_out([_deviation(np.abs(part)) for part in self._parts(centred)])

    def _parts(self, values: FloatArray) -> list[FloatArray]:
        """Each group's columns; of very large groups as many, evenly spread, as say enough."""
        return [values[:, a : b : max(1, -(-(b - a) // ENOUGH))] for a, b in self.bounds]

    def _spread_out(self, columns: Sequence[FloatArray]) -> FloatArray:
        if len(columns) == 1:
            return columns[0][:, None]
        sizes = [high - low for low, high in self.bounds]
        return np.repeat(np.stack(columns, axis=1), sizes, axis=1)


def peers_of(
    hosts: Sequence[str], devices: Sequence[str | None], placement: Placement | None
) -> Peers:
    """Group entities by the pipeline stage of their host and by having a device or not.

    Stages that are unknown, mixed on one host or too small to compare within are one group.
    """
    stage = _stages(placement)
    names = [normalise_host(host) for host in hosts]
    keys = [
        (device is not None, stage.get(name, -1))
        for name, device in zip(names, devices, strict=True)
    ]
    members: dict[tuple[bool, int], set[str]] = {}
    for key, name in zip(keys, names, strict=True):
        members.setdefault(key, set()).add(name)
    keys = [key if len(members[key]) >= MIN_ROLE_HOSTS else (key[0], -1) for key in keys]
    if any(sum(key == other for other in keys) < MIN_ROLE_HOSTS for key in set(keys)):
        keys = [(key[0], -1) for key in keys]
    number = {key: index for index, key in enumerate(sorted(set(keys)))}
    group = np.array([number[key] for key in keys], dtype=np.intp)
    order = np.argsort(group, kind="stable")
    edges = np.searchsorted(group[order], np.arange(len(number) + 1))
    index = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return Peers(
        order=order,
        bounds=tuple((int(a), int(b)) for a, b in pairwise(edges)),
        host=np.array([index[name] for name in names], dtype=np.intp)[order],
    )


def same_stage(host: str, hosts: Sequence[str], placement: Placement) -> list[str]:
    """Those of `hosts` in the pipeline stage of `host`; all where it is unknown or too small."""
    stage = _stages(placement)
    mine = stage.get(normalise_host(host))
    alike = [name for name in hosts if stage.get(normalise_host(name)) == mine]
    return alike if mine is not None and len(alike) >= MIN_ROLE_HOSTS else list(hosts)


def writer_of(hosts: Sequence[str], placement: Placement | None) -> int:
    """The number (see `Peers.host`) of the host on which rank 0 runs; -1 where that is unknown."""
    place = placement.by_rank.get(0) if placement else None
    names = list(dict.fromkeys(normalise_host(host) for host in hosts))
    name = normalise_host(place.host) if place else None
    return names.index(name) if name in names else -1


def _stages(placement: Placement | None) -> dict[str, int]:
    """Normalised host → its stage, where all its ranks are of one."""
    found: dict[str, set[int | None]] = {}
    for place in placement.places if placement else ():
        found.setdefault(normalise_host(place.host), set()).add(place.stage)
    return {
        host: stage
        for host, stages in found.items()
        if len(stages) == 1 and (stage := next(iter(stages))) is not None
    }


def row_median(values: FloatArray) -> FloatArray:
    """The median of each row, ignoring NaN; NaN for a row without values. Shape (rows,).

    In large groups of even size the lower of the two middle values, which is found sooner.
    """
    count = values.shape[1]
    if count == 0:
        return np.full(values.shape[0], np.nan, dtype=np.float32)
    ordered = np.sort(values, axis=1)
    if bool(np.isnan(ordered[:, -1]).any()):
        return _quantile_of_present(ordered, 0.5)
    middle = (count - 1) // 2
    if count % 2 or count >= LARGE_GROUP:
        return ordered[:, middle]
    return (ordered[:, middle] + ordered[:, middle + 1]) * np.float32(0.5)


def _deviation(sizes: FloatArray) -> FloatArray:
    """The deviation of each row from sizes (absolute distances), shape (rows,)."""
    count = sizes.shape[1]
    if count < LARGE_GROUP:
        return MAD_TO_DEVIATION * row_median(sizes)
    ordered = np.sort(sizes, axis=1)
    if bool(np.isnan(ordered[:, -1]).any()):
        return P80_TO_DEVIATION * _quantile_of_present(ordered, 0.8)
    return P80_TO_DEVIATION * ordered[:, (80 * count) // 100]


def _quantile_of_present(ordered: FloatArray, share: float) -> FloatArray:
    """Of rows in ascending order with what is missing (NaN) at their end."""
    present = np.count_nonzero(~np.isnan(ordered), axis=1)
    rows = np.arange(len(ordered))
    last = np.maximum(present - 1, 0) * share
    low, high = np.floor(last).astype(np.intp), np.ceil(last).astype(np.intp)
    middle = (ordered[rows, low] + ordered[rows, high]) * np.float32(0.5)
    return np.where(present > 0, middle, np.nan).astype(np.float32)


def in_time(values: FloatArray) -> Iterator[FloatArray]:
    """Sample after sample, (metrics, entities) each, of (metrics, entities, samples).

    Copied in blocks and metric by metric, so that what is read stays in the processor's cache.
    """
    metrics, entities, samples = values.shape
    for first in range(0, samples, _BLOCK):
        block = np.empty((min(_BLOCK, samples - first), metrics, entities), np.float32)
        for row, part in enumerate(values[:, :, first : first + _BLOCK]):
            block[:, row] = part.T
        yield from block


def median_over_time(values: FloatArray) -> FloatArray:
    """Median over the last axis, NaN where nothing is present."""
    ordered = np.sort(values, axis=-1)
    present = np.count_nonzero(~np.isnan(ordered), axis=-1)[..., None]
    middle = np.maximum(present - 1, 0) // 2
    upper = np.minimum(present // 2, values.shape[-1] - 1)
    low = np.take_along_axis(ordered, middle, axis=-1)
    high = np.take_along_axis(ordered, upper, axis=-1)
    return np.where(present > 0, (low + high) / 2, np.nan)[..., 0].astype(np.float32)
