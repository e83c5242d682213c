"""What others do, on the same windows: a Minder-like distance, Mahalanobis, and PyOD."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.degradation.answers import Answer, HostSuspect, Judgement
from diagnosis.degradation.coverage import coverage_of

Matrix = npt.NDArray[np.float64]

#: Thresholds of the peers, frozen on seeds below 100 as ours are.
STANDS_OUT = 6.0
MINDER_SCORE = 3.0
MINDER_CONTINUITY_S = 240.0


def available_peers() -> dict[str, Callable[[MetricWindow, Placement], Judgement]]:
    """The peers that can run here; PyOD's only where it is installed."""
    found: dict[str, Callable[[MetricWindow, Placement], Judgement]] = {
        "minder_like": minder_like,
        "mahalanobis": _by_features("mahalanobis", _mahalanobis),
    }
    for name, module, options in (
        ("pyod_ecod", "pyod.models.ecod:ECOD", {}),
        ("pyod_iforest", "pyod.models.iforest:IForest", {"random_state": 0}),
    ):
        model = _model(module)
        if model is not None:
            found[name] = _by_features(name, _fitted(model, options))
    return found


def minder_like(window: MetricWindow, _placement: Placement) -> Judgement:
    """Sums of pairwise distances per metric and minute; one host far for four minutes (Minder)."""
    step = max(1, round(60 / window.interval))
    minutes = len(window.time) // step
    needed = max(1, round(MINDER_CONTINUITY_S / 60))
    for values in window.values:
        runs = np.zeros(len(window.hosts))
        low, high = np.nanmin(values), np.nanmax(values)
        scaled = np.nan_to_num((values - low) / max(high - low, 1e-9))
        for minute in range(minutes):
            part = scaled[:, minute * step : (minute + 1) * step]
            apart = _sum_of_distances(part)
            deviation = (apart - apart.mean()) / max(float(apart.std()), 1e-9)
            runs = np.where(deviation > MINDER_SCORE, runs + 1, 0)
            if runs.max() >= needed:
                end = float(window.time[(minute + 1) * step - 1])
                return _judgement(window, "minder_like", int(runs.argmax()), end)
    return _judgement(window, "minder_like", None, None)


def _sum_of_distances(points: Matrix) -> Matrix:
    """Each row's Euclidean distances to all others, added up."""
    squares = np.einsum("hs,hs->h", points, points)
    apart = squares[:, None] + squares[None] - 2 * points @ points.T
    return np.asarray(np.sqrt(np.maximum(apart, 0)).sum(axis=1))


def _by_features(
    name: str, scores_of: Callable[[Matrix], Matrix]
) -> Callable[[MetricWindow, Placement], Judgement]:
    def judge(window: MetricWindow, _placement: Placement) -> Judgement:
        third = len(window.time) // 3
        with np.errstate(all="ignore"):
            change = np.nan_to_num(
                np.nanmean(window.values[:, :, -third:], 2)
                - np.nanmean(window.values[:, :, :third], 2)
            )
        centred = change - np.median(change, axis=1, keepdims=True)
        spread = 1.4826 * np.median(np.abs(centred), axis=1, keepdims=True)
        scores = scores_of((centred / np.maximum(spread, 1e-6)).T)
        middle = np.median(scores)
        deviation = 1.4826 * np.median(np.abs(scores - middle))
        first = int(scores.argmax())
        far = scores[first] - middle > STANDS_OUT * max(float(deviation), 1e-9)
        return _judgement(window, name, first, float(window.time[-1]) if far else None)

    return judge


def _mahalanobis(features: Matrix) -> Matrix:
    limited = np.clip(features, -20, 20)
    covariance = np.cov(limited.T) + np.eye(features.shape[1])
    return np.asarray(np.einsum("hm,mn,hn->h", limited, np.linalg.inv(covariance), limited))


def _fitted(model: Any, options: dict[str, Any]) -> Callable[[Matrix], Matrix]:
    def scores(features: Matrix) -> Matrix:
        detector = model(**options)
        detector.fit(np.clip(features, -50, 50))
        return np.asarray(detector.decision_scores_)

    return scores


def _model(path: str) -> Any:
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)
    except ImportError:
        return None


def _judgement(window: MetricWindow, name: str, host: int | None, alarm: float | None) -> Judgement:
    suspects = (
        ()
        if host is None
        else (HostSuspect(window.hosts[host], 1.0, float(window.time[0]), alarm, ()),)
    )
    answer = Answer.FAULTY if alarm is not None else Answer.HEALTHY
    return Judgement(answer, "", coverage_of(window), suspects, detector=name)
