"""The demo: a believable small cluster whose jobs break, told through the real ingest path."""

import io
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from diagnosis.models import CheckRun
from diagnosis.services import demo_checks
from diagnosis.simulator.scenarios import simulate
from diagnosis.simulator.simulation import Simulation
from incidents.choices import IncidentKind, JobState, Severity, Source
from incidents.models import Attempt, Incident
from incidents.roles import Actor
from incidents.services.diagnoses import request_diagnosis
from incidents.services.evidence import attach_evidence
from incidents.services.incidents import open_incident
from incidents.services.jobs import (
    Layout,
    PlacedRank,
    end_attempt,
    register_job,
    start_attempt,
)

CLUSTER = "demo"
#: What incidents of the demo say they come from: their pages are shown with a guide.
SOURCE = "demo"
HOSTS = 4


@dataclass(frozen=True, slots=True)
class Story:
    """One incident of the demo: which job broke how, and how long ago it began."""

    job: str
    owner: str
    title: str
    scenario: str
    kind: IncidentKind
    severity: Severity
    age: timedelta
    seed: int


STORIES = (
    Story(
        job="llama-pretrain-70b",
        owner="foundation-models",
        title="llama-pretrain-70b crashed",
        scenario="gpu_fallen_off_bus",
        kind=IncidentKind.CRASH,
        severity=Severity.HIGH,
        age=timedelta(hours=3, minutes=10),
        seed=11,
    ),
    Story(
        job="llama-pretrain-70b",
        owner="foundation-models",
        title="llama-pretrain-70b stands still",
        scenario="hang_compute",
        kind=IncidentKind.HANG,
        severity=Severity.CRITICAL,
        age=timedelta(minutes=14),
        seed=7,
    ),
    Story(
        job="vlm-sft-12",
        owner="multimodal",
        title="vlm-sft-12 crashed",
        scenario="cuda_oom",
        kind=IncidentKind.CRASH,
        severity=Severity.MEDIUM,
        age=timedelta(minutes=41),
        seed=5,
    ),
    Story(
        job="moe-ablation-3",
        owner="foundation-models",
        title="moe-ablation-3 is slow",
        scenario="slow_rank",
        kind=IncidentKind.DEGRADATION,
        severity=Severity.MEDIUM,
        age=timedelta(hours=1, minutes=5),
        seed=5,
    ),
    Story(
        job="speech-large",
        owner="audio",
        title="speech-large crashed",
        scenario="storage_stale_handle",
        kind=IncidentKind.CRASH,
        severity=Severity.HIGH,
        age=timedelta(hours=2, minutes=20),
        seed=5,
    ),
)


def is_told() -> bool:
    """Whether the demo's incidents are there already."""
    return Incident.objects.filter(source=SOURCE).exists()


def fill(*, now: datetime) -> Iterator[Incident]:
    """Tell every story, yielding each incident when its diagnosis is requested; then check hosts.

    Running it again starts further attempts of the same jobs, as a scheduler would.
    """
    actor = Actor.system("demo", source=Source.CLI)
    for story in STORIES:
        simulation = _simulated(story, now)
        attempt = _attempt(actor, story, simulation)
        onset = simulation.truth.onset
        incident, _ = open_incident(
            actor=actor,
            title=story.title,
            kind=story.kind,
            severity=story.severity,
            source=SOURCE,
            attempt=attempt,
            onset_at=datetime.fromtimestamp(onset, UTC) if onset else None,
        )
        for name, content in simulation.files.items():
            attach_evidence(actor=actor, incident=incident, name=name, stream=io.BytesIO(content))
        request_diagnosis(actor=actor, incident=incident)
        if story.kind == IncidentKind.CRASH:
            ended = datetime.fromtimestamp(onset, UTC) if onset else now
            end_attempt(actor=actor, attempt=attempt, outcome=JobState.FAILED, ended_at=ended)
        yield incident
    if not CheckRun.objects.filter(cluster__name=CLUSTER).exists():
        demo_checks.fill(CLUSTER)


def _simulated(story: Story, now: datetime) -> Simulation:
    """The story's job, started so that it breaks `age` before now."""
    began = (now - story.age).timestamp()
    rehearsal = simulate(story.scenario, seed=story.seed, hosts=HOSTS, started_at=0.0)
    offset = rehearsal.truth.onset or 0.0
    return simulate(story.scenario, seed=story.seed, hosts=HOSTS, started_at=began - offset)


def _attempt(actor: Actor, story: Story, simulation: Simulation) -> Attempt:
    layout = simulation.run.job.layout
    job = register_job(
        actor=actor,
        external_id=story.job,
        source="demo",
        cluster=CLUSTER,
        name=story.job,
        owner=story.owner,
        framework="PyTorch",
        layout=Layout(tp_size=layout.tp, pp_size=layout.pp, dp_size=layout.dp),
    )
    placement = [PlacedRank(**asdict(place)) for place in simulation.placement.places]
    started = datetime.fromtimestamp(simulation.run.job.start_ns / 1e9, UTC)
    return start_attempt(actor=actor, job=job, started_at=started, placement=placement)
