"""Each incident's evidence, diagnosis with findings, suspects and advice, and timeline, in bulk."""

from collections.abc import Iterator
from datetime import timedelta

from benchmarks.site_draws import CULPRIT, Draws, Told, line_of
from benchmarks.site_jobs import GPUS, Site
from incidents.choices import Action, DiagnosisState, Source, SuspectRole, TargetKind
from incidents.models import Diagnosis, Event, Evidence, Finding, Recommendation, Suspect
from incidents.models.evidence import Blob
from incidents.search_terms import terms_of


def run(one: Told, drawn: Draws) -> Diagnosis:
    incident = one.incident
    began = incident.opened_at + timedelta(seconds=2)
    return Diagnosis(
        incident=incident,
        number=1,
        state=DiagnosisState.DONE,
        requested_by="the watch",
        queued_at=incident.opened_at,
        announced_at=incident.opened_at,
        started_at=began,
        finished_at=began + timedelta(seconds=3),
        duration_s=3.0,
        attempts=1,
        engine_version="1",
        taxonomy_version="site",
        kind=incident.kind,
        verdict_class=incident.verdict_class,
        summary=incident.verdict_summary,
        confidence=incident.confidence,
        coverage={"logs": 2, "hosts_with_logs": 2},
        trace=[f"first sign: {drawn.fault[one.place]}", f"named {one.host.name}"],
    )


def file(one: Told, blob: Blob) -> Evidence:
    return Evidence(
        incident=one.incident,
        blob=blob,
        name=f"{one.host.name}.dmesg.log",
        kind="log",
        parse_status="parsed",
        uploaded_by="watch",
        source=Source.API,
        uploaded_at=one.incident.opened_at,
    )


def finding(run: Diagnosis, one: Told, drawn: Draws, file: Evidence, position: int) -> Finding:
    return Finding(
        diagnosis=run,
        position=position,
        detector=("signature", "silence")[position],
        text=line_of(drawn, one.place, one.host),
        at=one.incident.onset_at,
        evidence=file,
        evidence_name=file.name,
        locator={"line": 4_711},
        target_kind=TargetKind.GPU,
        target_host=one.host.name,
        target_gpu=str(one.place % GPUS),
    )


def suspects(one: Told, run: Diagnosis, drawn: Draws) -> Iterator[Suspect]:
    score = float(drawn.score[one.place])
    yield Suspect(
        diagnosis=run,
        position=1,
        score=score,
        role=SuspectRole.CULPRIT if score > CULPRIT else SuspectRole.POSSIBLE,
        fault=drawn.fault[one.place],
        target_kind=TargetKind.GPU,
        target_host=one.host.name,
        target_gpu=str(one.place % GPUS),
    )
    for position, other in enumerate(one.others, start=2):
        yield Suspect(
            diagnosis=run,
            position=position,
            score=(1 - score) / position,
            role=SuspectRole.POSSIBLE,
            fault=drawn.fault[one.place],
            target_kind=TargetKind.HOST,
            target_name=other.name,
            target_host=other.name,
        )


def advice(one: Told, run: Diagnosis) -> Iterator[Recommendation]:
    yield Recommendation(
        diagnosis=run,
        position=1,
        action=Action.ISOLATE_HOST,
        reason="The part is bad.",
        target_kind=TargetKind.HOST,
        target_name=one.host.name,
        target_host=one.host.name,
    )
    yield Recommendation(
        diagnosis=run,
        position=2,
        action=Action.RESTART_JOB,
        reason="From the last checkpoint.",
        target_kind=TargetKind.JOB,
    )


def events(one: Told, site: Site) -> Iterator[Event]:
    incident = one.incident
    person = site.people[one.place % len(site.people)]
    for verb, text, at in (
        ("incident.opened", f"Opened: {incident.title}", incident.opened_at),
        ("diagnosis.done", f"Diagnosis 1: {incident.verdict_summary}", incident.opened_at),
        ("incident.acknowledged", "Acknowledged", incident.acknowledged_at),
        ("incident.resolved", "Resolved", incident.resolved_at),
    ):
        if at is not None:
            yield Event(
                time=at,
                verb=verb,
                text=text,
                actor=person.username,
                user=person,
                source=Source.BROWSER,
                incident=incident,
                job_id=incident.job_id,
                host=one.host,
            )


def words(one: Told, drawn: Draws) -> Iterator[tuple[int, str]]:
    """What storing the answer through the service would have it found by."""
    incident, job = one.incident, one.incident.attempt.job  # type: ignore[union-attr]
    texts = (
        incident.title, incident.source, incident.verdict_summary, incident.suspect_name,
        drawn.fault[one.place], job.name, job.external_id, job.owner, one.host.normalised_name,
        line_of(drawn, one.place, one.host), *(other.name for other in one.others),
    )  # fmt: skip
    for term in terms_of(texts):
        yield incident.pk, term
