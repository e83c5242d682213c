"""Accumulated degradation, as the paper has it: how much of a job's time slow iterations cost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: An iteration is slow that takes more than so many times the mean (Dong et al., NSDI '25).
SLOW = 1.2


@dataclass(frozen=True, slots=True)
class Pace:
    """Iterations of one span of a job: how many, the seconds of all, and those beyond the limit."""

    iterations: float
    seconds: float
    excess: float


def accumulated(paces: Iterable[Pace]) -> float | None:
    """The sum of `Tk - Ts` over iterations with `Tk > Ts`, divided by the sum of all `Tk`.

    `Ts` is 1.2 times the mean iteration time. None where no iteration was seen.
    """
    seconds = excess = 0.0
    for one in paces:
        seconds += one.seconds
        excess += one.excess
    return excess / seconds if seconds else None


def paced(times: Sequence[float], counts: Sequence[float], *, known: Pace) -> Pace:
    """Further iterations of a job: `counts` of them took `times` seconds each.

    The mean is that of all that is known of the job until then, `known` included.
    """
    iterations = float(sum(counts))
    seconds = float(sum(t * n for t, n in zip(times, counts, strict=True)))
    total = known.iterations + iterations
    limit = SLOW * (known.seconds + seconds) / total if total else 0.0
    excess = sum((t - limit) * n for t, n in zip(times, counts, strict=True) if t > limit)
    return Pace(iterations, seconds, float(excess))
