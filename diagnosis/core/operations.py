"""Traces of computing operations of a pipeline-parallel job."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

DurationArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OperationTrace:
    """How long each worker computed for each micro-batch.

    `forward` and `backward` are seconds of shape (steps, replicas, stages, micro-batches), NaN
    where an operation is missing; `steps` are the iterations' numbers and `ranks` the rank of each
    worker, shape (replicas, stages), -1 where it is not known. Raises `ValueError` on shapes.
    """

    forward: DurationArray
    backward: DurationArray
    steps: tuple[int, ...]
    ranks: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.forward.ndim != 4 or self.forward.shape != self.backward.shape:
            raise ValueError("forward and backward must share (steps, replicas, stages, batches)")
        if self.ranks.shape != self.forward.shape[1:3] or len(self.steps) != len(self.forward):
            raise ValueError("ranks and steps do not fit the durations")

    @property
    def computing(self) -> DurationArray:
        """Seconds of both passes of each micro-batch, shaped as they are."""
        return self.forward + self.backward
