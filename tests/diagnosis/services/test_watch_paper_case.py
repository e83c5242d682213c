"""The published case against a real Prometheus: the NIC, the onset, the size, and the end."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from diagnosis.core.placement import Placement
from diagnosis.models import MetricPicture, MetricSource
from diagnosis.simulator.exposition import Exposition
from diagnosis.simulator.fleet_paper import PaperTruth, paper_case
from incidents.choices import IncidentKind, IncidentStatus, Resolution
from incidents.models import Diagnosis, Incident
from tests.diagnosis.watched import Watched, running_attempt
from tests.prometheus_server import prometheus


@dataclass(frozen=True)
class Backfilled:
    """A server that holds the case, and the truth about it."""

    url: str
    truth: PaperTruth
    placement: Placement
    start: float


@dataclass(frozen=True)
class Told:
    """Text for the server to hold."""

    content: str

    def text(self) -> str:
        return self.content


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backfilled]:
    window, truth, placement = paper_case(3, hosts=12, samples=360, onset=140, recovery=230)
    told = Told(Exposition(faulty=(truth.host, truth.nic)).text(window))
    with prometheus(tmp_path_factory.mktemp("paper"), told) as url:
        yield Backfilled(url, truth, placement, float(window.time[0]))


@pytest.fixture
def watched(case: Backfilled, db: None) -> Watched:
    MetricSource.objects.create(name="prometheus", url=case.url)
    return Watched(running_attempt(case.placement, start=case.start - 300))


@pytest.mark.timeout(400)  # a look at a time, for an hour of the job's
def test_the_papers_case_is_named_dated_and_sized_and_closes_after_recovery(
    case: Backfilled, watched: Watched
):
    truth = case.truth

    opened = watched.run(truth.onset - 180, truth.recovery - 60, beat=60)

    incident = Incident.objects.get()
    newest = incident.diagnoses.first()
    assert isinstance(newest, Diagnosis)
    suspect = newest.suspects.get(position=1)
    assert opened is not None
    assert opened - truth.onset <= 300
    assert incident.kind == IncidentKind.DEGRADATION
    assert (suspect.target_host, suspect.target_nic) == (truth.host, truth.nic)
    assert incident.onset_at is not None
    assert abs(incident.onset_at.timestamp() - truth.onset) <= 120
    slower = watched.watch.cause["signature"]["slower"]
    assert slower == pytest.approx(truth.slowdown, rel=0.1)
    drawn = MetricPicture.objects.get(diagnosis=newest).data
    assert drawn["metrics"][0]["metric"] == "ecn_cnp_s"
    assert drawn["pace"]["onset"] == pytest.approx(truth.onset, abs=120)

    watched.run(truth.recovery, truth.recovery + 960, beat=120)

    incident = Incident.objects.get()
    assert incident.status == IncidentStatus.RESOLVED
    assert incident.resolution == Resolution.RECOVERED
