"""How a job went, as its page shows it: attempts one after the other, pace, what was lost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from incidents import selectors
from incidents.figures.degradation import accumulated
from incidents.figures.incidents import Figures
from incidents.figures.thinning import thinned
from incidents.models import Attempt, Host, Incident, Job

#: Points of the pace that the picture shows.
_POINTS = 400


@dataclass(frozen=True, slots=True)
class Leg:
    """One attempt: how long it ran, and what happened to it."""

    attempt: Attempt
    seconds: float
    incidents: Sequence[Incident]


@dataclass(frozen=True, slots=True)
class Course:
    """The whole job. `data` is what its pictures draw, `pace` rows of a table.

    `left_out` are hosts of the attempt before the newest one that this one runs without.
    """

    legs: Sequence[Leg]
    restarts: int
    figures: Figures
    degradation: float | None
    left_out: Sequence[Host]
    pace: Sequence[tuple[datetime, float]]
    data: str


def course_of(job: Job, attempts: Sequence[Attempt], *, now: datetime) -> Course:
    """The job's course, newest attempt first as in `attempts`."""
    broke = selectors.incidents_by_attempt(job)
    legs = [
        Leg(
            attempt=attempt,
            seconds=((attempt.ended_at or now) - attempt.started_at).total_seconds(),
            incidents=broke.get(attempt.pk, ()),
        )
        for attempt in attempts
    ]
    hours = selectors.pace_of_job(job)
    pace = [(hour, one.seconds / one.iterations) for hour, one in hours if one.iterations]
    return Course(
        legs=legs,
        restarts=sum(1 for attempt in attempts if attempt.number > 1),
        figures=selectors.figures_of_job(job, now=now),
        degradation=accumulated(one for _, one in hours),
        left_out=selectors.left_out(attempts[1], attempts[0]) if len(attempts) > 1 else (),
        pace=pace,
        data=orjson.dumps(_drawn(legs, pace, now)).decode(),
    )


def _drawn(
    legs: Sequence[Leg], pace: Sequence[tuple[datetime, float]], now: datetime
) -> Mapping[str, object]:
    points = thinned([(hour.timestamp(), seconds) for hour, seconds in pace], most=_POINTS)
    return {
        "attempts": [
            {
                "number": leg.attempt.number,
                "from": leg.attempt.started_at.timestamp(),
                "to": (leg.attempt.ended_at or now).timestamp(),
                "outcome": leg.attempt.outcome,
                "incidents": [
                    {"at": one.began_at.timestamp(), "what": f"{one.reference} {one.title}"}
                    for one in leg.incidents
                ],
            }
            for leg in reversed(legs)
        ],
        "pace": {"time": [at for at, _ in points], "seconds": [round(s, 4) for _, s in points]},
    }
