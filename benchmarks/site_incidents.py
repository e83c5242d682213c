"""A year of incidents of a large site, each with its answer, decisions and timeline, in bulk."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np

from benchmarks import site_answers as answers
from benchmarks import site_decisions as decided
from benchmarks.site_draws import Draws, Told, draw, line_of
from benchmarks.site_jobs import GPUS, Site, write
from benchmarks.site_words import write_terms
from incidents.choices import DiagnosisState, IncidentKind, IncidentStatus, Resolution
from incidents.fingerprints import fingerprint_of
from incidents.models import Host, Incident, Suspect
from incidents.models.evidence import Blob

#: Incidents that are written at once: what memory holds easily.
_SLICE = 5000
_ENDS = (Resolution.PART_ISOLATED, Resolution.USER_CODE, Resolution.CONFIG_FIXED)


def fill(
    rng: np.random.Generator, site: Site, *, count: int, still_open: int, now: datetime
) -> None:
    """`count` incidents over the last year, the newest `still_open` of them open."""
    blob = Blob(sha256="0" * 64, size=80_000, stored_size=9_000)
    write([blob])
    days = np.sort(rng.uniform(0.01, 365.0, size=count))[::-1]
    for begin in range(0, count, _SLICE):
        ages = days[begin : begin + _SLICE]
        drawn = draw(rng, site, len(ages))
        open_from = count - still_open - begin
        told = [
            _incident(rng, site, drawn, place, now - timedelta(days=float(age)),
                      still=place >= open_from, now=now)
            for place, age in enumerate(ages)
        ]  # fmt: skip
        _store(told, drawn, blob, site)


def _incident(
    rng: np.random.Generator, site: Site, drawn: Draws, place: int, opened: datetime,
    *, still: bool, now: datetime,
) -> Told:  # fmt: skip
    attempt = site.attempts[drawn.attempt[place]]
    hosts = site.hosts_of[drawn.attempt[place]]
    # A few hosts cause much: the square draws towards the first.
    host = hosts[int(len(hosts) * rng.random() ** 2)]
    wait = timedelta(minutes=float(rng.exponential(14.0)))
    solved = opened + wait + timedelta(hours=float(rng.exponential(5.0)))
    ended = solved if solved < now and not still else None
    score = float(drawn.score[place])
    incident = Incident(
        title=f"{attempt.job.name} {_WHAT[drawn.kind[place]]}",
        kind=drawn.kind[place],
        severity=drawn.severity[place],
        status=IncidentStatus.RESOLVED if ended else _open_status(rng),
        resolution=_ENDS[place % 3] if ended else "",
        source="watch" if place % 3 else "slurm",
        cluster_id=host.cluster_id,
        job_id=attempt.job_id,
        attempt=attempt,
        gpu_count=len(hosts) * GPUS,
        assignee=site.people[place % len(site.people)] if rng.random() < 0.7 else None,
        onset_at=opened - timedelta(minutes=float(rng.exponential(3.0))),
        opened_at=opened,
        acknowledged_at=opened + wait / 2 if ended else None,
        mitigated_at=None,
        resolved_at=ended,
        verdict_class=drawn.verdict[place],
        verdict_summary=_summary(drawn, place, host),
        confidence=score,
        suspect_name=f"{host.name} GPU {place % GPUS}",
        suspect_score=score,
        suspect_fault=drawn.fault[place],
        suspect_host=host.normalised_name,
        fingerprint=fingerprint_of(line_of(drawn, place, host), host=host.name),
        diagnosis_state=DiagnosisState.DONE,
    )
    return Told(incident, place, host, [one for one in hosts[:3] if one is not host][:2])


_WHAT: Mapping[str, str] = {
    IncidentKind.CRASH: "crashed", IncidentKind.HANG: "stands still",
    IncidentKind.DEGRADATION: "is slow", IncidentKind.CHECK: "fails the delivery check",
}  # fmt: skip


def _open_status(rng: np.random.Generator) -> str:
    chance = rng.random()
    if chance < 0.4:
        return IncidentStatus.TRIGGERED
    return IncidentStatus.ACKNOWLEDGED if chance < 0.8 else IncidentStatus.MITIGATED


def _summary(drawn: Draws, place: int, host: Host) -> str:
    fault = drawn.fault[place].replace("-", " ")
    return f"{host.name} GPU {place % GPUS}: {fault}; isolate {host.name} and restart the job."


def _store(told: Sequence[Told], drawn: Draws, blob: Blob, site: Site) -> None:
    incidents = [one.incident for one in told]
    write(incidents)
    hosts = Incident.hosts.through
    write(hosts(incident_id=one.incident.pk, host_id=one.host.pk) for one in told)
    runs = [answers.run(one, drawn) for one in told]
    write(runs)
    files = [answers.file(one, blob) for one in told]
    write(files)
    findings = [
        answers.finding(run, one, drawn, file, position)
        for one, run, file in zip(told, runs, files, strict=True)
        for position in range(2)
    ]
    write(findings)
    suspects = [
        one
        for item, run in zip(told, runs, strict=True)
        for one in answers.suspects(item, run, drawn)
    ]
    write(suspects)
    links = Suspect.findings.through
    first = {one.diagnosis_id: one for one in suspects if one.position == 1}
    write(links(suspect_id=first[one.diagnosis_id].pk, finding_id=one.pk) for one in findings)
    advised = [
        one for item, run in zip(told, runs, strict=True) for one in answers.advice(item, run)
    ]
    write(advised)
    decisions = list(decided.decisions(told, advised, drawn, site))
    write(decisions)
    write(decided.reckonings(told, decisions, drawn))
    write(decided.judged(told, decisions, drawn))
    write(event for one in told for event in answers.events(one, site))
    write_terms(word for one in told for word in answers.words(one, drawn))
