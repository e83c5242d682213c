"""Plain data for drawing a slowdown: suspects against the band of their peers, iteration times."""

from collections.abc import Iterable, Sequence

import numpy as np

from diagnosis.core.metrics import FloatArray, MetricWindow, TimeArray
from diagnosis.core.placement import Placement
from diagnosis.core.target import normalise_host
from diagnosis.degradation.answers import HostSuspect, MetricShift
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.outliers import outlier_map
from diagnosis.degradation.pace import Pace
from diagnosis.degradation.peers import same_stage

#: What a screen shows of one picture, in points.
POINTS = 240
#: Pictures of single metrics that are kept.
MOST = 4
#: Rows of the table of what changed.
ROWS = 24
LOW, MIDDLE, HIGH = 0.1, 0.5, 0.9


def window_pictures(
    window: MetricWindow,
    suspects: Sequence[HostSuspect],
    placement: Placement,
    catalogue: Catalogue,
) -> dict[str, object]:
    """Everything that is drawn of a window and its suspects.

    `metrics`: suspects against their peers; `shifts`: before and after; `map`: hosts by metrics.
    """
    drawn = []
    for suspect, shift in worth_drawing(suspects):
        alike = of_hosts(window, same_stage(suspect.host, window.host_names, placement))
        picture = metric_picture(alike, suspect, shift, catalogue)
        if picture is not None:
            drawn.append(picture)
    onset = min((suspect.onset for suspect in suspects), default=None)
    return {
        "metrics": drawn,
        "shifts": shift_rows(suspects, catalogue),
        "map": outlier_map(window, onset, catalogue, placement) if onset is not None else None,
    }


def of_hosts(window: MetricWindow, hosts: Iterable[str]) -> MetricWindow:
    """The window of some of its hosts."""
    names = set(map(normalise_host, hosts))
    kept = [i for i, host in enumerate(window.hosts) if normalise_host(host) in names]
    return MetricWindow(
        values=window.values[:, kept],
        metrics=window.metrics,
        hosts=tuple(window.hosts[i] for i in kept),
        time=window.time,
        devices=tuple(window.devices[i] for i in kept),
    )


def shift_rows(suspects: Iterable[HostSuspect], catalogue: Catalogue) -> list[dict[str, object]]:
    """Before and after, a row a metric of each suspect, the strongest first; at most `ROWS`."""
    rows: list[dict[str, object]] = [
        {
            "host": suspect.host,
            "device": shift.device,
            "metric": shift.metric,
            "unit": catalogue.definition(shift.metric).unit,
            "before": shift.usual,
            "after": shift.value,
            "peers": shift.peers,
            "deviations": shift.deviations,
        }
        for suspect in suspects
        for shift in suspect.metrics
    ]
    return rows[:ROWS]


def metric_picture(
    window: MetricWindow, suspect: HostSuspect, shift: MetricShift, catalogue: Catalogue
) -> dict[str, object] | None:
    """One metric of a suspect and the quantiles of its peers over time; None without samples.

    Lists have one length, at most `POINTS`; `null` where nothing was measured. Times are seconds
    since 1970.
    """
    name = normalise_host(suspect.host)
    mine = np.array([normalise_host(host) == name for host in window.hosts])
    if shift.metric not in window.metrics or not mine.any():
        return None
    values = window.values[window.metrics.index(shift.metric)]
    time, values = thinned(window.time, values)
    band = _quantiles(values[~mine], (LOW, MIDDLE, HIGH))
    return {
        "host": suspect.host,
        "device": shift.device,
        "metric": shift.metric,
        "unit": catalogue.definition(shift.metric).unit,
        "onset": suspect.onset,
        "peers": int((~mine).sum()),
        "time": time.tolist(),
        "low": _plain(band[0]),
        "middle": _plain(band[1]),
        "high": _plain(band[2]),
        "value": _plain(_quantiles(values[mine], (MIDDLE,))[0]),
    }


def pace_picture(pace: Pace) -> dict[str, object] | None:
    """The job's iteration times with the slowdown that lasts; None without either."""
    if not len(pace.time):
        return None
    time, seconds = thinned(pace.time, pace.seconds[None].astype(np.float32))
    slow = pace.slowdown
    return {
        "time": time.tolist(),
        "seconds": _plain(seconds[0]),
        "onset": slow.onset if slow else None,
        "before": slow.before if slow else None,
        "after": slow.after if slow else None,
    }


def worth_drawing(suspects: Iterable[HostSuspect]) -> list[tuple[HostSuspect, MetricShift]]:
    """Each suspect's strongest metrics in turn, the first suspects first, at most `MOST`."""
    ordered = list(suspects)
    pairs = [
        (suspect, suspect.metrics[place])
        for place in range(MOST)
        for suspect in ordered
        if place < len(suspect.metrics)
    ]
    return pairs[:MOST]


def thinned(time: TimeArray, values: FloatArray) -> tuple[TimeArray, FloatArray]:
    """At most `POINTS` samples over the last axis: medians of neighbours, NaN where none is."""
    width = -(-len(time) // POINTS) or 1
    if width == 1:
        return time, values
    whole = len(time) // width * width
    parts = values[..., -whole:].reshape(*values.shape[:-1], whole // width, width)
    told = np.isfinite(parts).any(axis=-1)
    medians = np.full(parts.shape[:-1], np.nan, np.float32)
    medians[told] = np.nanmedian(parts[told], axis=-1)
    return time[-whole:][width - 1 :: width], medians


def _quantiles(values: FloatArray, shares: Sequence[float]) -> list[FloatArray]:
    told = np.isfinite(values).any(axis=0)
    found = np.full((len(shares), values.shape[1]), np.nan, np.float32)
    if told.any():
        found[:, told] = np.nanquantile(values[:, told], shares, axis=0)
    return list(found)


def _plain(values: FloatArray) -> list[float | None]:
    return [round(float(value), 6) if np.isfinite(value) else None for value in values]
