"""Noting how fast an attempt went, as it is watched."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import F, Sum

from incidents.figures.degradation import Pace, paced
from incidents.models import Attempt, PaceHour

_HOUR = 3600


@transaction.atomic
def note_pace(
    *, attempt: Attempt, times: Sequence[float], seconds: Sequence[float], counts: Sequence[float]
) -> None:
    """Adds iterations to the hours of an attempt.

    `counts` iterations of `seconds` each ended before `times` (seconds since 1970). A measurement
    and no one's change: it leaves no event.
    """
    totals = PaceHour.objects.filter(attempt=attempt).aggregate(
        iterations=Sum("iterations", default=0.0), seconds=Sum("seconds", default=0.0)
    )
    known = Pace(totals["iterations"], totals["seconds"], 0.0)
    for hour, (took, many) in sorted(_by_hour(times, seconds, counts).items()):
        added = paced(took, many, known=known)
        known = Pace(known.iterations + added.iterations, known.seconds + added.seconds, 0.0)
        row, made = PaceHour.objects.get_or_create(
            attempt=attempt,
            hour=datetime.fromtimestamp(hour, UTC),
            defaults={
                "iterations": added.iterations,
                "seconds": added.seconds,
                "excess_s": added.excess,
            },
        )
        if not made:
            PaceHour.objects.filter(pk=row.pk).update(
                iterations=F("iterations") + added.iterations,
                seconds=F("seconds") + added.seconds,
                excess_s=F("excess_s") + added.excess,
            )


def _by_hour(
    times: Sequence[float], seconds: Sequence[float], counts: Sequence[float]
) -> dict[int, tuple[list[float], list[float]]]:
    found: dict[int, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for time, took, many in zip(times, seconds, counts, strict=True):
        hour = int(time // _HOUR) * _HOUR
        found[hour][0].append(took)
        found[hour][1].append(many)
    return found
