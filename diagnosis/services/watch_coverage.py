"""On what a look rests, as the job's page shows it: who answered, who is silent, and why."""

from diagnosis.collectives.standstill import Standstill
from diagnosis.models import MetricSource
from diagnosis.services.watch_metrics import MetricLook
from diagnosis.sources.coverage import Coverage, MetricState

#: Older values of a host's metric are stale (s); names that are listed one by one.
STALE_S, LISTED = 300.0, 20


def coverage_of(
    still: Standstill, look: MetricLook, source: MetricSource | None, *, placed: bool
) -> dict[str, object]:
    """Plain data: `{"ranks": {"expected", "reported"}, "hosts": …, "metrics": …, "notes": […]}`."""
    notes = []
    covered: dict[str, object] = {}
    if still.known:
        covered["ranks"] = {"expected": still.known, "reported": still.fresh}
    else:
        notes.append("no progress was reported: a standstill cannot be seen")
    if source is None:
        notes.append("no metric source is set up for this cluster")
    elif not placed:
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
