"""Progress of jobs that report none themselves: NCCL's RAS service is asked, where it is set up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from diagnosis.collectives.counters import as_batch, asked_progress
from diagnosis.collectives.second_views import GIVEN_UP, AskedProgress
from diagnosis.core.collectives import NOT_KNOWN, CollectiveProgress
from diagnosis.core.live_progress import LiveProgress
from diagnosis.core.placement import Placement
from diagnosis.models import SourceKind
from diagnosis.services import metric_sources
from diagnosis.services.progress import take_polled
from diagnosis.sources.errors import SourceError
from diagnosis.sources.nccl_ras import RasAnswer, poll_first
from diagnosis.sources.ras_progress import lost_ranks, progress_of
from diagnosis.sources.retry import Budget
from incidents.models import Attempt

#: Hosts of a job that are tried in turn (any of them answers for all), and seconds for all.
HOSTS, SECONDS = 3, 10.0

Poll = Callable[[tuple[str, ...], int], RasAnswer]


@dataclass(frozen=True, slots=True)
class Polled:
    """What is known of an attempt after asking, and what is weak about it; empty where nothing.

    `asked` is RAS's own view where it answered; its `progress` is left out where `live` is made
    of it already.
    """

    live: LiveProgress | None
    note: str = ""
    asked: AskedProgress | None = None


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
    if _reports(live, now.timestamp() - settings.WATCH_FRESH_SECONDS):
        return Polled(live)
    answer = _answer(attempt, placement, ask)
    if answer is None or isinstance(answer, str):
        return Polled(live, answer or "")
    if answer.as_text:
        return Polled(live, "NCCL RAS counts all ranks from NCCL 2.28.7 on; this one is older")
    progress = answer.progress
    batch = as_batch(progress, now.timestamp())
    if not len(batch.ranks):
        return Polled(live, "NCCL RAS names no rank of this job")
    live = take_polled(attempt=attempt, batch=batch, now=now)
    return Polled(live, "; ".join(progress.notes), AskedProgress(None, answer.ended))


def ask_beside(
    attempt: Attempt,
    placement: Placement,
    polled: Polled,
    *,
    ask: Poll = ask_ras,
) -> Polled:
    """The same with RAS's view of a job whose own reports stand still, where it is set up."""
    if polled.asked is not None or polled.note:
        return polled
    answer = _answer(attempt, placement, ask)
    if answer is None or isinstance(answer, str):
        return Polled(polled.live, answer or "")
    progress = asked_progress(answer.progress)
    return Polled(polled.live, "; ".join(progress.notes), AskedProgress(progress, answer.ended))


@dataclass(frozen=True, slots=True)
class _Answer:
    """RAS's answer in the job's ranks; `as_text` tells differences only (before NCCL 2.28.7)."""

    progress: CollectiveProgress
    ended: Mapping[int, str]
    as_text: bool


def _answer(attempt: Attempt, placement: Placement, ask: Poll) -> _Answer | str | None:
    """The answer, why there is none, or None where nobody is to be asked."""
    source = metric_sources.source_for(attempt.job.cluster, SourceKind.NCCL_RAS)
    if source is None or not placement:
        return None
    try:
        answer = ask(placement.hosts[:HOSTS], int(source.url))
    except SourceError as error:
        return f"NCCL RAS: {error}"
    lost = lost_ranks(answer.status, placement, source.aliases)
    return _Answer(
        progress=progress_of(answer.status, placement, source.aliases),
        ended={rank: GIVEN_UP for rank, dead in lost.items() if dead},
        as_text=answer.as_text,
    )


def _reports(live: LiveProgress | None, since: float) -> bool:
    """Whether ranks report themselves: RAS tells neither steps nor what was completed."""
    if live is None or live.last_seen < since:
        return False
    told = live.counters.completed
    return bool((told != NOT_KNOWN).any() or (live.step != NOT_KNOWN).any())
