"""One record of every kind in a cluster, and the names by which addresses ask for them."""

from collections.abc import Mapping
from datetime import timedelta
from io import BytesIO

from django.core.management import call_command
from django.utils import timezone

from diagnosis.models import (
    CheckRun,
    CheckTask,
    FaultType,
    JobWatch,
    ProgressPicture,
    Signature,
    TaxonomyVersion,
)
from diagnosis.services import check_runs, check_tasks, offline
from incidents.choices import BatchStep, Role
from incidents.models import Device, DeviceSeat, Execution, ExternalId, Inbox, TicketLink
from incidents.services import batches, connectors, inbox, tokens, views, webhooks
from incidents.services.decisions import decide
from incidents.services.evidence import attach_evidence
from incidents.services.outbox import enqueue_test
from tests.factories import (
    AttemptFactory,
    ClusterFactory,
    DiagnosisFactory,
    HostFactory,
    IncidentFactory,
    JobFactory,
    RankPlacementFactory,
    RecommendationFactory,
    SuspectFactory,
    UserFactory,
    actor,
)

Names = Mapping[str, object]


def everything_in(name: str) -> Names:
    """Makes the records. Their texts hold the cluster's name, so that a page shows whose it is."""
    cluster = ClusterFactory(name=name)
    host = HostFactory(cluster=cluster, name=f"node-{name}")
    job = JobFactory(cluster=cluster, name=f"job-{name}", external_id=f"id-{name}")
    attempt = AttemptFactory(job=job)
    RankPlacementFactory(attempt=attempt, host=host)
    incident = IncidentFactory(cluster=cluster, job=job, attempt=attempt, title=f"title-{name}")
    evidence, _ = attach_evidence(
        actor=actor(), incident=incident, name=f"{name}.log", stream=BytesIO(name.encode())
    )
    diagnosis = DiagnosisFactory(incident=incident, done=True)
    recommendation = RecommendationFactory(diagnosis=diagnosis, target_host=host.name)
    decision = decide(actor=actor(), recommendation=recommendation, kind="accept")  # type: ignore[arg-type]
    hook = webhooks.subscribe(
        actor=actor(), name=f"hook-{name}", url="https://a.example/", cluster=cluster
    ).subscription
    door = inbox.save_inbox(
        actor=actor(),
        inbox=Inbox(),
        fields={"name": f"door-{name}", "kind": "alertmanager", "cluster": cluster},
    )
    token = tokens.issue(
        actor=actor(Role.ADMIN),
        owner=UserFactory(),
        name=f"token-{name}",
        scopes=["read"],
        expires_at=timezone.now() + timedelta(days=1),
    ).token
    JobWatch.objects.create(attempt=attempt, next_due_at=timezone.now())
    ProgressPicture.objects.create(diagnosis=diagnosis, data={})
    ticket = TicketLink.objects.create(incident=incident, key=f"T-{name}", linked_by="a")
    device = Device.objects.create(kind="gpu", serial=f"serial-{name}")
    now = timezone.now()
    DeviceSeat.objects.create(device=device, host=host, since=now, last_seen_at=now)
    ExternalId.objects.create(source="tickets", external_id=f"T-{name}", incident=incident)
    run = checked(name, host.name)
    for other in ("n", "m", "n2"):
        HostFactory(cluster=cluster, name=other)
    return {
        "external": f"T-{name}",
        "check_run": run.pk,
        "suite": "cpu",
        "suite_version": 1,
        "check_task": CheckTask.objects.filter(run=run)[0].pk,
        "runner": run.hosts.get().host.runner.pk,
        "offline": offline.start(
            actor=actor(), names=[f"node-{name}", "n2"], cluster=name, confirm=True
        ).pk,
        "second": IncidentFactory(cluster=cluster, title=f"title-{name}").pk,
        "batch": batches.change_many(
            actor=actor(),
            incidents=[incident],
            wanted=batches.Wanted(step=BatchStep.ACKNOWLEDGE),
        ).batch.pk,
        "view": views.save_view(
            actor=actor(), owner=UserFactory(), name="v", query="", shared=True
        ).pk,
        "private_view": views.save_view(
            actor=actor(), owner=UserFactory(), name="mine", query="", shared=False
        ).pk,
        "device": device.pk,
        "cluster": name,
        "cluster_id": cluster.pk,
        "host": host.pk,
        "job": job.pk,
        "attempt": attempt.pk,
        "incident": incident.pk,
        "evidence": evidence.pk,
        "diagnosis": diagnosis.pk,
        "suspect": SuspectFactory(diagnosis=diagnosis).pk,
        "recommendation": recommendation.pk,
        "decision": decision.pk,
        "webhook": hook.pk,
        "delivery": enqueue_test(hook).pk,
        "execution": Execution.objects.create(
            recommendation=recommendation,
            decision=decision,
            scheduler="slurm",
            host=host.name,
            argv=["scontrol", host.name],
            planned_by="a",
        ).pk,
        "connector": connectors.add_connector(
            actor=actor(),
            kind="jira",
            fields={
                "name": f"jira-{name}",
                "url": "https://a.example",
                "secret": "s",
                "cluster": cluster,
                "options": {"project": "OPS"},
            },
        ).pk,
        "inbox": door.pk,
        "inbox_name": door.name,
        "token": token.pk,
        "ticket": ticket.pk,
    }


def checked(cluster: str, host: str) -> CheckRun:
    """A check that its runner has begun with."""
    runner = check_tasks.register(actor=actor(), name=host, cluster=cluster)
    run = check_runs.start(actor=actor(), suite="cpu", names=[host], cluster=cluster, confirm=True)
    check_tasks.claim(actor=actor(), runner=runner)
    return run


def shared() -> Names:
    """What belongs to no cluster: the taxonomy."""
    call_command("load_taxonomy", verbosity=0)
    return {
        "fault": FaultType.objects.values_list("code", flat=True)[0],
        "signature": Signature.objects.values_list("code", flat=True)[0],
        "version": TaxonomyVersion.objects.values_list("pk", flat=True)[0],
    }
