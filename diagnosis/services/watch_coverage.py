"""What the job's page shows of a look: the verdict, and on whom it rests."""

from dataclasses import dataclass
from datetime import UTC, datetime

from diagnosis.collectives.standstill import Standstill
from diagnosis.models import JobWatch, MetricSource
from diagnosis.services.watch_metrics import MetricLook
from diagnosis.services.watch_situation import Situation
from diagnosis.sources.coverage import Coverage, MetricState

#: Older values of a host's metric are stale (s); names that are listed one by one.
STALE_S, LISTED = 300.0, 20


@dataclass(frozen=True, slots=True)
class Seen:
    """What one look saw: reports, metrics, the source they came from, and what else to say.

    `placed` says whether it is known which hosts the job runs on; `missed` looks fell out since
    the workers are behind, and this one covers their time.
    """

    still: Standstill
    look: MetricLook
    source: MetricSource | None
    placed: bool
    note: str = ""
    missed: int = 0


def note_look(watch: JobWatch, situation: Situation, seen: Seen, now: datetime) -> None:
    """Fills in what the row shows of this look."""
    still, look, source = seen.still, seen.look, seen.source
    watch.judged_at, watch.judgements = now, watch.judgements + 1
    watch.verdict, watch.summary = situation.verdict, situation.summary
    watch.phase = still.phase.word if still.known else ""
    watch.coverage = coverage_of(seen)
    times = [time for time in (still.last_seen, look.until) if time is not None]
    if times:
        watch.seen_until = datetime.fromtimestamp(max(times), UTC)
    watch.error = f"The metric source {source} fails: {look.error}" if look.error else ""
    watch.error_since = (source.failing_since if source else None) if look.error else None


def coverage_of(seen: Seen) -> dict[str, object]:
    """Plain data: `{"ranks": {"expected", "reported"}, "hosts": …, "metrics": …, "notes": […]}`."""
    still, look = seen.still, seen.look
    notes = [seen.note] if seen.note else []
    if seen.missed:
        looks = "one look" if seen.missed == 1 else f"{seen.missed} looks"
        notes.append(f"the workers are behind: this look covers {looks} that fell out")
    covered: dict[str, object] = {}
    if still.known:
        covered["ranks"] = {"expected": still.known, "reported": still.fresh}
    else:
        notes.append("no progress was reported: a standstill cannot be seen")
    if seen.source is None:
        notes.append("no metric source is set up for this cluster")
    elif not seen.placed:
        notes.append("no placement: it is not known which hosts to ask about")
    if look.coverage is not None:
        covered |= _of_metrics(look.coverage)
        notes += _notes(look.coverage)
    return covered | {"notes": notes}


def _of_metrics(coverage: Coverage) -> dict[str, object]:
    hosts, metrics = len(coverage.hosts), len(coverage.metrics)
    return {
        "hosts": {"expected": hosts, "reported": hosts - len(coverage.silent)},
        "metrics": {"expected": metrics, "reported": metrics - len(coverage.unanswered)},
    }


def _notes(coverage: Coverage) -> list[str]:
    notes = []
    if coverage.silent:
        notes.append(f"silent hosts: {_listed(coverage.silent)}")
    blank = [one.metric for one in coverage.metrics if one.state is MetricState.BLANK]
    if blank:
        notes.append(f"exported without a value: {_listed(blank)}")
    failed = [one for one in coverage.metrics if one.failures]
    notes += [f"{one.metric}: {one.failures[0]}" for one in failed[:LISTED]]
    stale = {host for hosts in coverage.stale(STALE_S).values() for host in hosts}
    if stale:
        notes.append(f"stale values: {_listed(sorted(stale))}")
    return [*notes, *coverage.notes[:LISTED]]


def _listed(names: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more
