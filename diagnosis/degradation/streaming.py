"""One job under watch: samples come in as they are scraped, and the detector's state is kept.

The first stretch of a job's samples is its hosts' own past. Afterwards each look takes in what came
since the last one, be it one sample or ten minutes of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from diagnosis.core.metrics import FloatArray, MetricWindow, TimeArray
from diagnosis.core.placement import Placement
from diagnosis.core.target import normalise_host
from diagnosis.degradation.answers import Answer, HostSuspect, Judgement
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.coverage import coverage_of, too_few_hosts
from diagnosis.degradation.detector import Detector
from diagnosis.degradation.state import Watch


@dataclass
class Stream:
    """What is kept of one job. `hosts` and `metrics` are fixed; the rest moves with each look.

    `step` is the grid's (s), `until` the time of the last sample that was taken in.
    """

    metrics: tuple[str, ...]
    hosts: tuple[str, ...]
    step: float
    until: float
    watch: Watch = field(repr=False)


@dataclass(frozen=True)
class StreamSettings:
    """Seconds: how much past a job needs, how much is looked at, when a state is too old.

    `past` is what the hosts' own level is learned from. A gap longer than `longest_gap` is not
    bridged: the state is learned anew.
    """

    past: float = 600.0
    longest_past: float = 2400.0
    longest_gap: float = 3600.0


def begin(
    window: MetricWindow,
    *,
    placement: Placement,
    catalogue: Catalogue,
    settings: StreamSettings,
) -> tuple[Stream | None, Judgement]:
    """The state after a first window, and the judgement of it; no state where it is too little.

    The head of the window (`settings.past`) is taken for the hosts' own past, the rest is judged.
    Metrics that nobody answered are left out for as long as the state lives; hosts of the
    placement that are silent are not: they may speak later.
    """
    coverage = coverage_of(window)
    detector = detector_at(window.interval or 1.0)
    reason = _too_little(window, detector, coverage.hosts_judged, settings)
    if reason:
        return None, Judgement(Answer.CANNOT_TELL, reason, coverage, detector=detector.name)
    told = np.asarray(np.isfinite(window.values).any(axis=(1, 2)))
    metrics = tuple(name for name, here in zip(window.metrics, told, strict=True) if here)
    kept = MetricWindow(
        values=_aligned(window, metrics, placement.hosts),
        metrics=metrics,
        hosts=placement.hosts,
        time=window.time,
    )
    past = kept.between(kept.time[0], kept.time[0] + settings.past)
    state = detector.start(past, placement=placement, catalogue=catalogue)
    stream = Stream(metrics, kept.hosts, window.interval, float(past.time[-1]), state)
    judgement = advance(stream, kept)
    return stream, replace(judgement, coverage=coverage)


def advance(stream: Stream, window: MetricWindow) -> Judgement:
    """Takes in what is newer than the state, in any order of metrics and hosts.

    Hosts that the state does not know are left out, missing ones have no values.
    """
    fresh = window.between(float(np.nextafter(stream.until, np.inf)), np.inf)
    tick = MetricWindow(
        values=_aligned(fresh, stream.metrics, stream.hosts),
        metrics=stream.metrics,
        hosts=stream.hosts,
        time=fresh.time,
    )
    detector = detector_at(stream.step)
    stream.watch, judgement = detector.advance(stream.watch, tick)
    if len(tick.time):
        stream.until = float(tick.time[-1])
    return judgement


def detector_at(step: float) -> Detector:
    """The robust detector at its full pace, for samples `step` seconds apart."""
    detector = Detector()
    time = np.arange(0.0, detector.full_span_s + 2 * step, step)
    nothing = np.empty((0, 0, len(time)), np.float32)
    return detector.paced(MetricWindow(nothing, (), (), time))


def lasting(judgement: Judgement) -> tuple[HostSuspect, ...]:
    """The hosts that are named and have not recovered."""
    return tuple(
        suspect
        for suspect in judgement.suspects
        if suspect.alarm_time is not None and suspect.recovered is None
    )


def forget_recovered(stream: Stream) -> None:
    """Ends alarms that are over, so that the next one of that host has its own onset."""
    alarms = stream.watch.alarms
    for host in [host for host, alarm in alarms.items() if alarm.recovered is not None]:
        del alarms[host]


def series_of(window: MetricWindow, metric: str) -> tuple[TimeArray, TimeArray]:
    """The median of a metric over all hosts, NaN where none has it; empty where nobody has."""
    if metric not in window.metrics or not len(window.hosts):
        return np.zeros(0), np.zeros(0)
    values = window.values[window.metrics.index(metric)]
    told = np.isfinite(values).any(axis=0)
    medians = np.full(values.shape[1], np.nan)
    medians[told] = np.nanmedian(values[:, told], axis=0)
    return window.time, medians


def _too_little(
    window: MetricWindow, detector: Detector, answering: int, settings: StreamSettings
) -> str:
    reason = too_few_hosts(answering, detector.min_hosts)
    missing = settings.past + 4 * window.interval - window.span
    if not reason and missing > 0:
        return f"learning what is usual; {missing / 60:.0f} min of samples are still to come"
    return reason


def _aligned(window: MetricWindow, metrics: Sequence[str], hosts: Sequence[str]) -> FloatArray:
    """The window's values in another order, NaN for what it has not, (metrics, hosts, samples)."""
    if window.metrics == tuple(metrics) and window.hosts == tuple(hosts):
        return window.values
    aligned = np.full((len(metrics), len(hosts), len(window.time)), np.nan, np.float32)
    column = {normalise_host(host): index for index, host in enumerate(window.hosts)}
    pairs = [(index, column.get(normalise_host(host))) for index, host in enumerate(hosts)]
    to = [index for index, at in pairs if at is not None]
    taken = [at for _, at in pairs if at is not None]
    for row, metric in enumerate(metrics):
        if metric in window.metrics:
            values = window.values[window.metrics.index(metric)]
            aligned[row, to] = values[taken]
    return aligned
