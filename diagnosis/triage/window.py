"""When the job failed, and which window around it is judged."""

from diagnosis.core.words import Action, SignatureClass
from diagnosis.taxonomy.signature import Stream
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue, Moment
from diagnosis.triage.timeline import day_text

OF_THE_JOB = {Stream.JOB, Stream.SCHEDULER}
_FAILING = {
    SignatureClass.DISTRIBUTED,
    SignatureClass.USER,
    SignatureClass.STORAGE,
    SignatureClass.CONFIG,
    SignatureClass.CRITICAL,
}
_IDLE = {Action.WATCH, Action.NONE}


def failing(case: Case) -> list[Clue]:
    """Clues of the job itself that say that it fails."""
    return [
        clue
        for clue in case.clues
        if clue.signature.stream in OF_THE_JOB
        and clue.signature.cls in _FAILING
        and clue.signature.action not in _IDLE
    ]


def window_of(case: Case) -> tuple[float, float] | None:
    """Start and end of the window, epoch seconds; None where the job tells no time of failure."""
    times = [c.moment for c in failing(case) if c.moment and c.moment.scale == "utc"]
    if not times:
        return None
    failure = min(moment.time for moment in times)
    last = max(moment.time for moment in times)
    timeouts = [c.report.timeout_ms for c in case.clues if c.report and c.report.timeout_ms]
    timeout = max(timeouts, default=0) / 1000 or case.settings.collective_timeout
    settings = case.settings
    return failure - timeout - settings.before_failure, max(failure, last) + settings.after_failure


def described(case: Case) -> str:
    """What was read, and which window is judged, for the trace."""
    lines = sum(scan.facts.lines for scan in case.scans)
    hosts = len(case.log_hosts)
    ranks = f"{_counted(len(case.ranks), 'rank')} {'speaks' if len(case.ranks) == 1 else 'speak'}"
    text = (
        f"{_counted(len(case.scans), 'log')}, {_counted(lines, 'line')}, "
        f"{_counted(hosts, 'host')}, {ranks}"
    )
    if shortened := sum(scan.facts.shortened for scan in case.scans):
        text += f", {shortened} of them so long that only beginning and end were read"
    window = window_of(case)
    if window is None:
        return f"{text}; the job tells no time of failure, so all of it is judged"
    start, end = (day_text(Moment(time, "utc")) for time in window)
    return f"{text}; window {start} to {end}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
