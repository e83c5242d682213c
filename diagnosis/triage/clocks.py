"""Clock doubt: whether the hosts' clocks agree well enough to say who failed first."""

from collections import defaultdict

from diagnosis.core.target import normalise_host
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue


def order_doubt(case: Case, first: Clue, second: Clue) -> str | None:
    """Why `first` may not have come before `second`, or None where their clocks agree.

    The clocks disagree by at least what the same collective's launch times on the two hosts tell;
    a stamp with a zone and one without may be hours apart.
    """
    if not first.moment or not second.moment or first.moment.scale != second.moment.scale:
        return "nothing tells which of them was first"
    gap = abs(second.moment.time - first.moment.time)
    if first.moment.zoned != second.moment.zoned:
        if gap < case.settings.zone_doubt:
            return "one of their clocks tells its time zone and the other does not"
        return None
    skew = skew_between(case, first.place.host, second.place.host)
    if skew is not None and skew > gap:
        return (
            f"their clocks disagree by about {skew:.1f} s, more than the {gap:.1f} s between them"
        )
    return None


def skew_between(case: Case, one: str | None, other: str | None) -> float | None:
    """Seconds by which two hosts' clocks differ, from when the same collective was launched.

    A watchdog says how long its work ran when it timed out, so the launch is that much earlier.
    Ranks launch a collective together up to the slowest one; the earliest of each host is taken.
    """
    if not one or not other:
        return None
    launches = _launches(case)
    mine, theirs = launches.get(normalise_host(one), {}), launches.get(normalise_host(other), {})
    gaps = [abs(mine[work] - theirs[work]) for work in mine.keys() & theirs.keys()]
    return min(gaps, default=None)


def _launches(case: Case) -> dict[str, dict[tuple[object, ...], float]]:
    """Host → work → the earliest launch on that host."""
    found: dict[str, dict[tuple[object, ...], float]] = defaultdict(dict)
    for clue in case.clues:
        report = clue.report
        if report is None or report.ran_ms is None or report.sequence is None:
            continue
        if not clue.place.host or clue.moment is None or clue.moment.scale.startswith("uptime"):
            continue
        work = (report.group, report.sequence, report.operation)
        launch = clue.moment.time - report.ran_ms / 1000
        works = found[normalise_host(clue.place.host)]
        works[work] = min(launch, works.get(work, launch))
    return found
