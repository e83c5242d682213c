"""From a situation to its incident: opened once, brought up to date, closed when it has passed."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from diagnosis.core.diagnosis import Suspect
from diagnosis.core.words import IncidentKind, Role
from diagnosis.models import JobWatch, MetricPicture, ProgressPicture
from diagnosis.services.answers import plain, result_from
from diagnosis.services.watch_situation import Situation
from incidents import models, selectors
from incidents.choices import IncidentKind as RecordedKind
from incidents.choices import Resolution, Severity
from incidents.hostnames import normalise_host
from incidents.roles import Actor
from incidents.services import diagnoses
from incidents.services.incidents import add_note, reopen, resolve
from incidents.services.opening import graver_kind, open_incident

WATCH = Actor.system("the watch")
#: Trouble that is gone for so long has passed; a slowdown's size is told anew from this change on.
CALM = timedelta(seconds=60)
#: Trouble of the same hosts within so long is the same trouble.
COMES_BACK = timedelta(minutes=30)
NEW_SIZE = 0.1


@dataclass(frozen=True, slots=True)
class Cause:
    """What a watch's incident was opened for, as `JobWatch.cause` keeps it.

    `signature` is that of the newest diagnosis, `opened` when the first one was made and
    `calm_since` when the trouble was first seen to be gone (seconds since 1970).
    """

    kind: str
    signature: Mapping[str, Any]
    opened: float
    calm_since: float | None = None

    @classmethod
    def of(cls, watch: JobWatch) -> "Cause | None":
        return cls(**watch.cause) if watch.cause else None

    def covers(self, signature: Mapping[str, Any]) -> bool:
        """Whether the newest diagnosis tells of this trouble already.

        What eases off is no news: fewer hosts, less of a slowdown, a hang that became slowness.
        """
        known = self.signature
        if graver_kind(known["kind"], signature["kind"]) != known["kind"]:
            return False
        if not set(signature["targets"]) <= set(known["targets"]):
            return False
        slower = signature["slower"]
        return slower is None or (
            known["slower"] is not None and slower - known["slower"] <= NEW_SIZE
        )


def wants_details(watch: JobWatch, situation: Situation) -> bool:
    """Whether the situation is trouble that no diagnosis tells of yet."""
    if situation.diagnosis is None or situation.withheld:
        return False
    cause = Cause.of(watch)
    return cause is None or watch.incident is None or not cause.covers(situation.signature)


@transaction.atomic
def bring_up_to_date(watch: JobWatch, situation: Situation, *, owner: str, now: datetime) -> None:
    """Opens, renews or closes the watch's incident, within the caller's transaction.

    An incident that a person closed while its cause lasts stays closed, unless it got graver. What
    is withheld opens nothing, and closes nothing either: the trouble is there.
    """
    cause = Cause.of(watch)
    if situation.diagnosis is None:
        if cause is not None:
            _calm(watch, cause, situation, now)
        return
    held = bool(situation.withheld) and cause is not None
    if cause is not None and (held or _closed_by_hand(watch, cause, situation)):
        watch.cause = asdict(replace(cause, calm_since=None))
    elif wants_details(watch, situation):
        watch.incident = _opened(watch.attempt, situation)
        _count_idle(watch.incident, situation)
        _store(watch.incident, situation, owner)
        watch.cause = asdict(
            Cause(
                kind=watch.incident.kind,
                signature=situation.signature,
                opened=cause.opened if cause else now.timestamp(),
            )
        )
    elif cause is not None:
        watch.cause = asdict(replace(cause, calm_since=None))


def _closed_by_hand(watch: JobWatch, cause: Cause, situation: Situation) -> bool:
    if watch.incident is None or watch.incident.is_open:
        return False
    return graver_kind(cause.kind, str(situation.kind)) == cause.kind


def _opened(attempt: models.Attempt, situation: Situation) -> models.Incident:
    """The attempt's open incident where it has one, whoever opened it; else a new one.

    All trouble of an attempt at one time is one incident: a slowdown grows into a hang.
    """
    models.Attempt.objects.select_for_update().get(pk=attempt.pk)
    hosts = {item.target.host for item in _suspects(situation) if item.target.host}
    known = selectors.open_incidents_of(attempt).first() or _come_back(attempt, hosts)
    incident, _ = open_incident(
        actor=WATCH,
        title=_title(attempt, situation),
        kind=RecordedKind(str(situation.kind)),
        severity=_severity(situation),
        source="watch",
        dedup_key="" if known else f"watch:attempt:{attempt.pk}",
        attempt=attempt,
        hosts=sorted(hosts),
        onset_at=_instant(situation.onset),
    )
    return incident


def _come_back(attempt: models.Attempt, hosts: Collection[str]) -> models.Incident | None:
    """The incident of the same hosts that recovered just now, open again; None where none did."""
    since = timezone.now() - COMES_BACK
    recovered = attempt.incidents.filter(
        source="watch", resolution=Resolution.RECOVERED, resolved_at__gte=since
    )
    names = {normalise_host(host) for host in hosts}
    for incident in recovered.order_by("-resolved_at"):
        before = set(incident.hosts.values_list("normalised_name", flat=True))
        if names & before or (not names and not before):
            return reopen(actor=WATCH, incident=incident, note="The same trouble came back.")
    return None


def _suspects(situation: Situation) -> list[Suspect]:
    found = situation.diagnosis.suspects if situation.diagnosis else ()
    return [suspect for suspect in found if suspect.role is not Role.VICTIM]


def _title(attempt: models.Attempt, situation: Situation) -> str:
    if situation.kind is IncidentKind.HANG:
        return f"{attempt.job}: stands still"
    if situation.slowdown is not None:
        return f"{attempt.job}: iterations {situation.slowdown.share:.0%} longer"
    hosts = [item.target.host for item in _suspects(situation) if item.target.host]
    return f"{attempt.job}: {hosts[0]} left its peers" if hosts else f"{attempt.job}: slow"


def _severity(situation: Situation) -> Severity:
    if situation.kind is IncidentKind.HANG:
        return Severity.CRITICAL
    if situation.slowdown is None:
        return Severity.LOW
    return Severity.HIGH if _suspects(situation) else Severity.MEDIUM


def _count_idle(incident: models.Incident, situation: Situation) -> None:
    """How many GPUs the trouble is worth: all where nothing moves, else the share that is lost."""
    if incident.source != "watch" or incident.attempt is None:
        return
    ranks = incident.attempt.placements.count()
    if situation.kind is not IncidentKind.HANG:
        slower = situation.slowdown.share if situation.slowdown else 0.0
        ranks = round(ranks * slower / (1 + slower))
    if incident.gpu_count != ranks:
        incident.gpu_count = ranks
        incident.save(update_fields=["gpu_count", "updated_at"])


def _store(incident: models.Incident, situation: Situation, owner: str) -> None:
    """The diagnosis with its pictures, so that the incident's page shows them as any other."""
    if situation.diagnosis is None:
        return
    result = result_from(situation.diagnosis, records={}, kinds={}, origins={}, fault_codes={})
    run = diagnoses.start_own_run(actor=WATCH, incident=incident, owner=owner)
    stored = diagnoses.store_result(pk=run.pk, owner=owner, result=result)
    pictures = situation.pictures
    progress = pictures.get("collective_progress")
    if isinstance(progress, Mapping):
        ProgressPicture.objects.create(diagnosis=stored, data=plain(progress))
    drawn = pictures.get("metrics")
    if isinstance(drawn, Mapping) and any(drawn.values()):
        MetricPicture.objects.create(diagnosis=stored, data=plain(drawn))


def _calm(watch: JobWatch, cause: Cause, situation: Situation, now: datetime) -> None:
    """Closes the incident once its trouble has been seen to be gone for a while.

    What cannot be seen is not over: a silent source or reports that stopped close nothing. What
    someone else opened is theirs to close; the watch leaves a note.
    """
    if not _sees(cause, situation):
        watch.cause = asdict(replace(cause, calm_since=None))
        return
    calm_since = now.timestamp() if cause.calm_since is None else cause.calm_since
    if now.timestamp() - calm_since < CALM.total_seconds():
        watch.cause = asdict(replace(cause, calm_since=calm_since))
        return
    incident = watch.incident
    if incident is not None and incident.is_open:
        since = datetime.fromtimestamp(calm_since, UTC)
        did = "The job moves again" if cause.kind == "hang" else "The job is back at its usual pace"
        note = f"{did}, as the watch sees it since {since:%Y-%m-%d %H:%M:%S} UTC."
        if incident.source == "watch":
            resolve(actor=WATCH, incident=incident, resolution=Resolution.RECOVERED, note=note)
        else:
            add_note(actor=WATCH, incident=incident, text=note)
    watch.incident, watch.cause = None, {}


def _sees(cause: Cause, situation: Situation) -> bool:
    """Whether the side that showed the trouble is seen now, by a state that knows what was usual.

    A slowdown without a host was seen in the job's own pace, which is followed on its own.
    """
    if cause.signature["kind"] == "hang":
        return situation.sees_progress
    if not cause.signature["targets"]:
        return situation.sees_metrics or situation.sees_progress
    learned = situation.learned
    return situation.sees_metrics and learned is not None and learned <= cause.opened


def _instant(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
