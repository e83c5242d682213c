"""A job under watch on a simulated clock: reports come, beats fall, nobody sleeps."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from diagnosis.core.placement import Placement
from diagnosis.models import JobWatch
from diagnosis.readers.progress_reports import read_reports
from diagnosis.services import metric_sources, watch, watch_list
from diagnosis.services.metric_sources import Eyes
from diagnosis.services.progress import take_reports
from incidents.models import Attempt, Incident
from incidents.roles import Actor
from incidents.services.jobs import PlacedRank, register_job, start_attempt

ROBOT = Actor.system("scheduler")


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def running_attempt(placement: Placement, *, start: float, name: str = "pretrain") -> Attempt:
    """A registered attempt that runs since `start` (seconds since 1970)."""
    job = register_job(actor=ROBOT, external_id=name, source="slurm", name=name)
    places = [PlacedRank(**asdict(place)) for place in placement.places]
    return start_attempt(actor=ROBOT, job=job, started_at=at(start), placement=places)


@dataclass
class Watched:
    """One attempt whose reports (`body` at a time) come every `every` seconds."""

    attempt: Attempt
    body: Callable[[float], object] | None = None
    every: float = 30.0
    ask: Eyes = metric_sources.ask

    def run(self, start: float, end: float, *, beat: float = 20.0) -> float | None:
        """Lets time pass from start to end; when the first incident was opened, or None."""
        opened, reported, now = None, -self.every, start
        while now <= end:
            if now - reported >= self.every:
                self.report(now, now)
                reported = now
            beat_at(now, ask=self.ask)
            if opened is None and Incident.objects.exists():
                opened = now
            now += beat
        return opened

    def report(self, start: float, end: float) -> None:
        """The reports from start to end, with nobody looking at them."""
        now = start
        while self.body is not None and now <= end:
            batch = read_reports(self.body(now))
            take_reports(actor=ROBOT, attempt=self.attempt, batch=batch, now=at(now))
            now += self.every

    @property
    def watch(self) -> JobWatch:
        return JobWatch.objects.get(attempt=self.attempt)


def beat_at(now: float, *, ask: Eyes = metric_sources.ask) -> Iterable[int]:
    """One beat and what workers do after it; the attempts that were judged."""
    watch_list.enrol(now=at(now))
    due = watch_list.call_for_due(now=at(now))
    return [pk for pk in due if watch.judge(pk, now=at(now), ask=ask)]
