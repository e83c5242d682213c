"""The collective side of degradation: who computes longer than its peers of the same stage.

In a synchronous job everyone waits for the slowest worker, so waiting times spread the blame
(algorithms 3.2). Computing times do not: a bad worker is longer than its own stage's median, a
heavy stage is longer on all replicas, and uneven sequences differ from one micro-batch to the next
on every worker. What each of the three costs is asked of the pipeline itself: how long would the
step take without it (after "Understanding Stragglers in Large Model Training Using What-if
Analysis", which simulates all operations; here computation alone).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import numpy as np

from diagnosis.core.operations import DurationArray, OperationTrace
from diagnosis.degradation.answers import Answer

Removal = Callable[[DurationArray], DurationArray]


class SlowdownCause(StrEnum):
    """What makes the steps longer than they would be on equal workers."""

    WORKER = "slow-worker"
    STAGE = "heavy-stage"
    SEQUENCES = "uneven-sequences"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SlowWorker:
    """A worker, its rank (-1 if unknown), and its computing time over its stage's median."""

    replica: int
    stage: int
    rank: int
    ratio: float


@dataclass(frozen=True, slots=True)
class OperationJudgement:
    """`slowdown` is the mean step over the step on equal workers and equal work (1 = none).

    `explained` is the share of that loss which goes away with the cause. `stage` is the heavy
    stage, where that is the cause; only a `WORKER` cause accuses anyone.
    """

    answer: Answer
    reason: str
    cause: SlowdownCause = SlowdownCause.NONE
    slowdown: float = 1.0
    explained: float = 0.0
    workers: tuple[SlowWorker, ...] = ()
    stage: int | None = None


@dataclass(frozen=True)
class ComputeContrast:
    """Compare computing times within a stage, then ask which cause costs the most.

    A worker is slow from `worker_ratio` times its stage's median on, in at least `persistence` of
    the steps. Below `min_slowdown` there is nothing to explain.
    """

    worker_ratio: float = 1.2
    persistence: float = 0.7
    min_slowdown: float = 1.1
    min_workers: int = 3

    def __call__(self, trace: OperationTrace) -> OperationJudgement:
        """Judge a trace of at least one whole step; says so where it cannot."""
        whole = np.isfinite(trace.computing).all(axis=(1, 2, 3))
        if not whole.any():
            return OperationJudgement(Answer.CANNOT_TELL, "no step of the trace is complete")
        forward, backward = trace.forward[whole], trace.backward[whole]
        slowdown = _step_time(forward, backward) / _ideal(forward, backward)
        if slowdown < self.min_slowdown:
            return OperationJudgement(Answer.HEALTHY, "", slowdown=slowdown)
        workers = self._slow_workers(trace, forward + backward)
        candidates: dict[SlowdownCause, Removal] = {
            SlowdownCause.STAGE: _without_stages,
            SlowdownCause.SEQUENCES: _without_sequences,
        }
        if workers:
            candidates = {SlowdownCause.WORKER: _without_workers, **candidates}
        loss = slowdown - 1
        shares = {
            cause: (slowdown - _slowdown(forward, backward, remove)) / loss
            for cause, remove in candidates.items()
        }
        cause = max(shares, key=lambda name: shares[name])
        faulty = cause is SlowdownCause.WORKER
        return OperationJudgement(
            answer=Answer.FAULTY if faulty else Answer.HEALTHY,
            reason="",
            cause=cause,
            slowdown=slowdown,
            explained=float(np.clip(shares[cause], 0, 1)),
            workers=workers if faulty else (),
            stage=_heaviest(forward + backward) if cause is SlowdownCause.STAGE else None,
        )

    def _slow_workers(
        self, trace: OperationTrace, computing: DurationArray
    ) -> tuple[SlowWorker, ...]:
        per_step = computing.mean(axis=3)
        if per_step.shape[1] < self.min_workers:
            return ()
        ratio = per_step / np.median(per_step, axis=1, keepdims=True)
        typical = np.median(ratio, axis=0)
        lasting = (ratio > self.worker_ratio).mean(axis=0) >= self.persistence
        found = [
            SlowWorker(
                replica, stage, int(trace.ranks[replica, stage]), float(typical[replica, stage])
            )
            for replica, stage in np.argwhere(lasting & (typical > self.worker_ratio)).tolist()
        ]
        return tuple(sorted(found, key=lambda worker: -worker.ratio))


def _slowdown(forward: DurationArray, backward: DurationArray, remove: Removal) -> float:
    """The slowdown that stays when a cause is taken out of both passes."""
    return _step_time(remove(forward), remove(backward)) / _ideal(forward, backward)


def _ideal(forward: DurationArray, backward: DurationArray) -> float:
    """The step's seconds when every operation of a pass takes that pass's mean."""
    even = [np.full_like(part[:1, :1], part.mean()) for part in (forward, backward)]
    return _step_time(even[0], even[1])


def _without_workers(durations: DurationArray) -> DurationArray:
    """Each worker as fast as the median worker of its stage, micro-batches as uneven as before."""
    own = durations.mean(axis=3, keepdims=True)
    alike: DurationArray = durations / own * np.median(own, axis=1, keepdims=True)
    return alike


def _without_stages(durations: DurationArray) -> DurationArray:
    """Each stage as heavy as the mean stage."""
    stage = durations.mean(axis=(0, 1, 3), keepdims=True)
    alike: DurationArray = durations / stage * stage.mean()
    return alike


def _without_sequences(durations: DurationArray) -> DurationArray:
    """Each worker's micro-batches alike."""
    return np.broadcast_to(durations.mean(axis=(1, 3), keepdims=True), durations.shape)


def _heaviest(computing: DurationArray) -> int:
    return int(computing.mean(axis=(0, 1, 3)).argmax())


def _step_time(forward: DurationArray, backward: DurationArray) -> float:
    """Mean seconds of a step under the 1F1B schedule; replicas wait for the slowest of them."""
    stages, batches = forward.shape[2:]
    ready = np.zeros(forward.shape[:3])
    done: dict[tuple[bool, int, int], DurationArray] = {}
    for is_forward, stage, batch in one_forward_one_backward(stages, batches):
        source = stage - 1 if is_forward else stage + 1
        begin = ready[:, :, stage]
        if 0 <= source < stages:
            begin = np.maximum(begin, done[is_forward, source, batch])
        lasts = (forward if is_forward else backward)[:, :, stage, batch]
        done[is_forward, stage, batch] = ready[:, :, stage] = begin + lasts
    return float(ready.max(axis=(1, 2)).mean())


@lru_cache(maxsize=32)
def one_forward_one_backward(stages: int, batches: int) -> tuple[tuple[bool, int, int], ...]:
    """The operations (is it forward, stage, batch) in an order in which each finds its input."""
    queues = [list(_stage_order(stages, batches, stage)) for stage in range(stages)]
    finished: set[tuple[bool, int, int]] = set()
    order: list[tuple[bool, int, int]] = []
    while any(queues):
        for stage, queue in enumerate(queues):
            while queue and _has_input(queue[0], stage, stages, finished):
                is_forward, batch = queue.pop(0)
                finished.add((is_forward, stage, batch))
                order.append((is_forward, stage, batch))
    return tuple(order)


def _has_input(
    operation: tuple[bool, int], stage: int, stages: int, finished: set[tuple[bool, int, int]]
) -> bool:
    is_forward, batch = operation
    source = stage - 1 if is_forward else stage + 1
    return not 0 <= source < stages or (is_forward, source, batch) in finished


def _stage_order(stages: int, batches: int, stage: int) -> Iterator[tuple[bool, int]]:
    """Warm-up forwards, then one forward one backward, then the remaining backwards."""
    ahead = min(stages - stage - 1, batches)
    for batch in range(ahead):
        yield True, batch
    for batch in range(batches - ahead):
        yield True, ahead + batch
        yield False, batch
    for batch in range(batches - ahead, batches):
        yield False, batch
