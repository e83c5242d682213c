"""A metric window of one job straight from a metric server, for the command line."""

from dataclasses import dataclass

from diagnosis.core.metrics import MetricWindow
from diagnosis.core.placement import Placement, RankPlace
from diagnosis.sources.connection import Connection
from diagnosis.sources.errors import SourceError
from diagnosis.sources.gather import GatherSettings, gather
from diagnosis.sources.grid import TimeGrid
from diagnosis.sources.prometheus import Prometheus
from diagnosis.sources.queries import shipped_queries
from incidents import selectors


class NoWindow(Exception):  # noqa: N818 - it names what there is not
    """The server gave no window; the message says why."""


@dataclass(frozen=True, slots=True)
class Span:
    """Seconds since the epoch, and between two samples."""

    start: float
    end: float
    step: float = 10.0


def window_from_server(url: str, placement: Placement, span: Span) -> MetricWindow:
    """The catalogue's metrics of the placed hosts, one value a host; raises `NoWindow`."""
    try:
        grid = TimeGrid.covering(span.start, span.end, span.step)
        with Prometheus(Connection(url)) as source:
            settings = GatherSettings(by_host=True)
            return gather(source, shipped_queries(), placement.hosts, grid, settings).window
    except (SourceError, ValueError) as error:
        raise NoWindow(str(error)) from error


def placement_of_job(external_id: str) -> Placement:
    """Where the newest attempt of a registered job runs; raises `NoWindow` if unknown."""
    attempt = selectors.attempts().filter(job__external_id=external_id).first()
    if attempt is None:
        raise NoWindow(f"no job {external_id} is registered; name its hosts with --placement")
    places = [
        RankPlace(place.rank, place.host.name, stage=place.stage, dp=place.dp, tp=place.tp)
        for place in selectors.placement_of(attempt)
    ]
    if not places:
        raise NoWindow(f"job {external_id} has no placement; name its hosts with --placement")
    return Placement.of(places)
