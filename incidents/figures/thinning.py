"""As many points as a screen can show, extremes kept."""

from collections.abc import Sequence

Point = tuple[float, float]


def thinned(points: Sequence[Point], *, most: int) -> Sequence[Point]:
    """At most `most` of the points, in order: of each stretch its lowest and its highest.

    The first and last point stay. `most` is four at least.
    """
    if len(points) <= most:
        return points
    inner, stretches = points[1:-1], (most - 2) // 2
    kept = [points[0]]
    for number in range(stretches):
        begin = number * len(inner) // stretches
        end = (number + 1) * len(inner) // stretches
        part = range(begin, end)
        low = min(part, key=lambda place: inner[place][1])
        high = max(part, key=lambda place: inner[place][1])
        kept += [inner[place] for place in sorted({low, high})]
    return [*kept, points[-1]]
