"""Hosts by metrics: how far each cell has moved from its peers since a moment."""

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import FloatArray, MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.peers import Peers, median_over_time, peers_of
from diagnosis.degradation.scaling import bad_size, fit_scaling

#: Hosts that are shown: those that moved furthest.
SHOWN = 12
#: Samples a side that a median is taken over; deviations beyond the top are not told apart.
SAMPLES, TOP = 60, 50.0


def outlier_map(
    window: MetricWindow, onset: float, catalogue: Catalogue, placement: Placement
) -> dict[str, object] | None:
    """`{"hosts", "metrics", "cells", "others"}`: cells (hosts, metrics), deviations, bad positive.

    Of each cell the median after `onset` (seconds) is held against the one before, less what its
    peers did, in robust deviations of the peers. `null` where nothing is known, `others` hosts are
    not shown. None where the onset leaves nothing on one side.
    """
    at = int(np.searchsorted(window.time, onset))
    if at < 2 or at > len(window.time) - 2:
        return None
    peers = peers_of(window.hosts, window.devices, placement)
    cells = _deviations(window, at, catalogue, peers)
    names = list(dict.fromkeys(window.hosts[i] for i in peers.order))
    by_host = _per_host(cells, peers, len(names))
    furthest = np.nan_to_num(by_host, nan=0.0).max(axis=1)
    shown = np.argsort(-furthest, kind="stable")[:SHOWN]
    told = np.asarray(np.isfinite(by_host[shown]).any(axis=0))
    return {
        "hosts": [names[i] for i in shown.tolist()],
        "metrics": [name for name, here in zip(window.metrics, told, strict=True) if here],
        "cells": [
            [None if not np.isfinite(value) else round(float(value), 1) for value in row[told]]
            for row in by_host[shown]
        ],
        "others": max(0, len(names) - len(shown)),
    }


def _deviations(window: MetricWindow, at: int, catalogue: Catalogue, peers: Peers) -> FloatArray:
    values = window.values[:, peers.order, max(0, at - SAMPLES) : at + SAMPLES]
    at = min(at, SAMPLES)
    definitions = [catalogue.definition(name) for name in window.metrics]
    scaling = fit_scaling(values[:, :, :at], definitions)
    change = scaling(median_over_time(values[:, :, at:])) - scaling(
        median_over_time(values[:, :, :at])
    )
    change -= peers.median(change)
    spread = np.maximum(peers.deviation(change), scaling.least)
    found: FloatArray = np.clip(bad_size(change, scaling) / spread, -TOP, TOP)
    return found


def _per_host(cells: FloatArray, peers: Peers, hosts: int) -> npt.NDArray[np.float32]:
    """The entity of each host that moved furthest, (hosts, metrics)."""
    order = {number: place for place, number in enumerate(dict.fromkeys(peers.host.tolist()))}
    by_host = np.full((hosts, len(cells)), np.nan, np.float32)
    for entity, number in enumerate(peers.host.tolist()):
        row = order[number]
        by_host[row] = np.fmax(by_host[row], cells[:, entity])
    return by_host
