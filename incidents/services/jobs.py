"""Registering jobs, their attempts, and which rank runs where."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from incidents.choices import JobState
from incidents.exceptions import InvalidInput
from incidents.hostnames import normalise_host
from incidents.models import Attempt, Job, RankPlacement
from incidents.roles import Actor, Capability
from incidents.services import topology
from incidents.services.aftermath import settle
from incidents.services.events import record
from incidents.services.idle import note_freed, recount

_ENDED = frozenset({JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedRank:
    """One row of a placement, as the contract's `placement.json` has it."""

    rank: int
    host: str
    local_rank: int | None = None
    gpu: str | int | None = None
    gpu_uuid: str | None = None
    nic: str | None = None
    stage: int | None = None
    dp: int | None = None
    tp: int | None = None
    ep: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The sizes of a job's parallel dimensions; None where unknown."""

    tp_size: int | None = None
    pp_size: int | None = None
    dp_size: int | None = None
    ep_size: int | None = None


@transaction.atomic
def register_job(
    *,
    actor: Actor,
    external_id: str,
    source: str = "",
    cluster: str = "",
    name: str = "",
    owner: str = "",
    framework: str = "",
    layout: Layout | None = None,
) -> Job:
    """The job with this id at this scheduler: made where it is new, else brought up to date.

    Empty values leave what is known. Raises `InvalidInput` for an empty id.
    """
    actor.require(Capability.REGISTER_JOBS)
    if not external_id.strip():
        raise InvalidInput(
            "A job needs the id that its scheduler knows it by.", field="external_id"
        )
    actor.reach.require_owner(owner)
    given: Mapping[str, object] = {
        "name": name,
        "owner": owner,
        "framework": framework,
        **asdict(layout or Layout()),
    }
    job, created = Job.objects.update_or_create(
        cluster=topology.cluster_named(cluster),
        source=source.strip(),
        external_id=external_id.strip(),
        defaults={field: value for field, value in given.items() if value not in {"", None}},
    )
    verb, did = ("job.registered", "registered") if created else ("job.updated", "updated")
    record(actor=actor, verb=verb, text=f"Job {job} {did}", job=job)
    return job


@transaction.atomic
def start_attempt(
    *,
    actor: Actor,
    job: Job,
    number: int | None = None,
    started_at: datetime | None = None,
    placement: Sequence[PlacedRank] = (),
) -> Attempt:
    """A new attempt of a job; the next number unless one is given.

    Raises `InvalidInput` for a number that is taken.
    """
    actor.require(Capability.REGISTER_JOBS)
    job = Job.objects.select_for_update().get(pk=job.pk)
    last = job.attempts.order_by("-number").values_list("number", flat=True).first() or 0
    number = last + 1 if number is None else number
    if number < 1 or job.attempts.filter(number=number).exists():
        raise InvalidInput(f"{job} cannot have a new attempt {number}.", field="number")
    attempt = Attempt.objects.create(
        job=job, number=number, started_at=started_at or timezone.now()
    )
    job.state = JobState.RUNNING
    job.save(update_fields=["state"])
    _place(attempt, placement)
    note_freed(job)
    record(
        actor=actor,
        verb="attempt.started",
        text=f"Attempt {number} of {job} started on {len(placement)} ranks",
        job=job,
        data={"attempt": number, "ranks": len(placement)},
    )
    return attempt


@transaction.atomic
def end_attempt(
    *, actor: Actor, attempt: Attempt, outcome: JobState, ended_at: datetime | None = None
) -> Attempt:
    """Notes how an attempt ended. Raises `InvalidInput` for an outcome that is no end."""
    actor.require(Capability.REGISTER_JOBS)
    if outcome not in _ENDED:
        raise InvalidInput(f"An attempt does not end as '{outcome}'.", field="outcome")
    ended_at = ended_at or timezone.now()
    if ended_at < attempt.started_at:
        raise InvalidInput("An attempt cannot end before it started.", field="ended_at")
    attempt.outcome, attempt.ended_at = outcome, ended_at
    attempt.save(update_fields=["outcome", "ended_at"])
    job = attempt.job
    if not job.attempts.filter(number__gt=attempt.number).exists():
        job.state = outcome
        job.save(update_fields=["state"])
    note_freed(job)
    record(
        actor=actor,
        verb="attempt.ended",
        text=f"Attempt {attempt.number} of {job} ended: {outcome.label.lower()}",
        job=job,
        data={"attempt": attempt.number, "outcome": outcome.value},
    )
    settle(attempt)
    return attempt


@transaction.atomic
def set_placement(*, actor: Actor, attempt: Attempt, placement: Sequence[PlacedRank]) -> Attempt:
    """Replaces the placement of an attempt. Raises `InvalidInput` naming the rank that is wrong."""
    actor.require(Capability.REGISTER_JOBS)
    attempt.placements.all().delete()
    _place(attempt, placement)
    recount(attempt)
    record(
        actor=actor,
        verb="attempt.placed",
        text=f"Placement of attempt {attempt.number} of {attempt.job}: {len(placement)} ranks",
        job=attempt.job,
        data={"attempt": attempt.number, "ranks": len(placement)},
    )
    return attempt


def _place(attempt: Attempt, placement: Sequence[PlacedRank]) -> None:
    seen: set[int] = set()
    for place in placement:
        if place.rank < 0 or place.rank in seen:
            raise InvalidInput(f"Rank {place.rank} stands twice or is negative.", field="rank")
        seen.add(place.rank)
    hosts = topology.hosts_named(attempt.job.cluster, [place.host for place in placement])
    RankPlacement.objects.bulk_create(
        [
            RankPlacement(
                attempt=attempt,
                rank=place.rank,
                host=hosts[normalise_host(place.host)],
                local_rank=place.local_rank,
                gpu="" if place.gpu is None else str(place.gpu),
                gpu_uuid=place.gpu_uuid or "",
                nic=place.nic or "",
                stage=place.stage,
                dp=place.dp,
                tp=place.tp,
                ep=place.ep,
            )
            for place in placement
        ],
        batch_size=1000,
    )
