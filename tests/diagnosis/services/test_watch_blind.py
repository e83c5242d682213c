"""A metric source on its bad days: shown as such, asked again rightly, and no incident invented."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from diagnosis.core.placement import Placement, RankPlace
from diagnosis.models import MetricSource, SourceState, WatchVerdict
from incidents.models import Incident
from tests.diagnosis.sources.fake_server import Behaviour, FakeServer, answers, fake_server, matrix
from tests.diagnosis.watched import Watched, running_attempt
from tests.ports import dead_port

pytestmark = pytest.mark.django_db

START = 1_780_000_000.0
NOW = START + 7200
PLACEMENT = Placement.of(RankPlace(rank, f"node-{rank:03d}") for rank in range(4))


@pytest.fixture
def watched() -> Watched:
    return Watched(running_attempt(PLACEMENT, start=START))


def nan_for_all(handler: BaseHTTPRequestHandler, form: dict[str, str]) -> None:
    times = [NOW - 600 + 15 * n for n in range(40)]
    series = [
        ({"instance": f"{p.host}:9100"}, [[t, "NaN"] for t in times]) for p in PLACEMENT.places
    ]
    answers(200, matrix(*series))(handler, form)


BAD_DAYS: dict[str, tuple[Behaviour, str, bool]] = {
    "bad request": (answers(400, '{"status":"error","errorType":"bad_data"}'), "400", True),
    "forbidden": (answers(401, "who are you"), "401", True),
    "overloaded": (answers(503, "try later", Retry_After="30"), "503", False),
    "garbage": (answers(200, "<html>hello</html>"), "no JSON", False),
}


@pytest.mark.parametrize("day", BAD_DAYS)
def test_a_source_that_fails_is_shown_with_its_reason_and_nothing_is_opened(
    watched: Watched, day: str
):
    behaviour, reason, permanent = BAD_DAYS[day]
    with fake_server(behaviour) as server:
        source = MetricSource.objects.create(name="prometheus", url=server.url)
        watched.run(NOW, NOW + 60, beat=60)

    source.refresh_from_db()
    assert reason in watched.watch.error
    assert source.permanent is permanent
    assert_shown_as_failing(source, watched)


def test_a_source_that_does_not_answer_is_left_and_shown(watched: Watched, settings):
    settings.WATCH_SOURCE_SECONDS = 1
    left = threading.Event()

    def silent(handler: BaseHTTPRequestHandler, form: dict[str, str]) -> None:
        left.wait()

    with fake_server(silent) as server:
        source = MetricSource.objects.create(name="prometheus", url=server.url)
        try:
            watched.run(NOW, NOW + 60, beat=60)
        finally:
            left.set()

    source.refresh_from_db()
    assert "within" in watched.watch.error
    assert source.permanent is False
    assert_shown_as_failing(source, watched)


def assert_shown_as_failing(source: MetricSource, watched: Watched) -> None:
    assert watched.watch.verdict == WatchVerdict.CANNOT_TELL
    assert watched.watch.error_since is not None
    assert source.state == SourceState.FAILS
    assert not Incident.objects.exists()


def test_a_source_that_is_down_is_shown_as_such(watched: Watched):
    with dead_port() as port:
        MetricSource.objects.create(name="prometheus", url=f"http://127.0.0.1:{port}")
        watched.run(NOW, NOW + 60, beat=60)

    assert "cannot be reached" in watched.watch.error
    assert watched.watch.verdict == WatchVerdict.CANNOT_TELL


@pytest.mark.parametrize("behaviour", [answers(200, matrix()), nan_for_all])
def test_an_empty_answer_is_not_health(watched: Watched, behaviour: Behaviour):
    with fake_server(behaviour) as server:
        MetricSource.objects.create(name="prometheus", url=server.url)
        watched.run(NOW, NOW + 60, beat=60)

    assert watched.watch.verdict == WatchVerdict.CANNOT_TELL
    assert "no host" in watched.watch.summary
    assert watched.watch.coverage["hosts"] == {"expected": 4, "reported": 0}
    assert not Incident.objects.exists()


@pytest.fixture
def rejecting() -> Iterator[FakeServer]:
    with fake_server(answers(401, "who are you")) as server:
        yield server


def test_a_permanent_failure_is_not_asked_again_at_every_look(
    watched: Watched, rejecting: FakeServer
):
    MetricSource.objects.create(name="prometheus", url=rejecting.url)

    watched.run(NOW, NOW + 300, beat=60)

    assert len(rejecting.asked) == 1
    assert watched.watch.judgements >= 4


def test_a_source_that_comes_back_clears_the_error(watched: Watched):
    with fake_server(answers(503, "later")) as server:
        source = MetricSource.objects.create(name="prometheus", url=server.url)
        watched.run(NOW, NOW + 60, beat=60)
    with fake_server(answers(200, matrix())) as server:
        MetricSource.objects.filter(pk=source.pk).update(url=server.url)
        watched.run(NOW + 120, NOW + 120)

    assert watched.watch.error == ""
    assert MetricSource.objects.get().state == SourceState.ANSWERS


def test_a_job_without_a_source_or_reports_cannot_be_told(watched: Watched):
    watched.run(NOW, NOW + 60, beat=60)

    assert watched.watch.verdict == WatchVerdict.CANNOT_TELL
    assert "no metric source is set up for this cluster" in watched.watch.coverage["notes"]
