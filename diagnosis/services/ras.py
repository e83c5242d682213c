"""Progress of jobs that report none themselves: NCCL's RAS service is asked, where it is set up."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from diagnosis.collectives.counters import as_batch
from diagnosis.core.collectives import NOT_KNOWN
from diagnosis.core.live_progress import LiveProgress
from diagnosis.core.placement import Placement
from diagnosis.models import SourceKind
from diagnosis.services import metric_sources
from diagnosis.services.progress import take_polled
from diagnosis.sources.errors import SourceError
from diagnosis.sources.nccl_ras import RasAnswer, poll_first
from diagnosis.sources.ras_progress import progress_of
from diagnosis.sources.retry import Budget
from incidents.models import Attempt

#: Hosts of a job that are tried in turn (any of them answers for all), and seconds for all.
HOSTS, SECONDS = 3, 10.0

Poll = Callable[[tuple[str, ...], int], RasAnswer]


@dataclass(frozen=True, slots=True)
class Polled:
    """What is known of an attempt after asking, and what is weak about it; empty where nothing."""

    live: LiveProgress | None
    note: str = ""


def ask_ras(hosts: tuple[str, ...], port: int) -> RasAnswer:
    """The answer of the first host that gives one. Raises `SourceError`."""
    return poll_first(hosts, Budget(SECONDS), port=port)


def poll(
    attempt: Attempt,
    placement: Placement,
    live: LiveProgress | None,
    *,
    now: datetime,
    ask: Poll = ask_ras,
) -> Polled:
    """Asks RAS where it is set up and the job's own reports are missing or old.

    The service comes and goes with its job: what fails is a note on this job alone.
    """
    source = metric_sources.source_for(attempt.job.cluster, SourceKind.NCCL_RAS)
    if (
        source is None
        or not placement
        or _reports(live, now.timestamp() - settings.WATCH_FRESH_SECONDS)
    ):
        return Polled(live)
    try:
        answer = ask(placement.hosts[:HOSTS], int(source.url))
    except SourceError as error:
        return Polled(live, f"NCCL RAS: {error}")
    if answer.status is None:
        return Polled(live, "NCCL RAS counts all ranks from NCCL 2.28.7 on; this one is older")
    progress = progress_of(answer.status, placement, source.aliases)
    batch = as_batch(progress, now.timestamp())
    if not len(batch.ranks):
        return Polled(live, "NCCL RAS names no rank of this job")
    return Polled(take_polled(attempt=attempt, batch=batch, now=now), "; ".join(progress.notes))


def _reports(live: LiveProgress | None, since: float) -> bool:
    """Whether ranks report themselves: RAS tells neither steps nor what was completed."""
    if live is None or live.last_seen < since:
        return False
    told = live.counters.completed
    return bool((told != NOT_KNOWN).any() or (live.step != NOT_KNOWN).any())
