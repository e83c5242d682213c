"""The end of a run: what its outputs say, and what that means for hosts and incidents."""

from dataclasses import asdict, replace
from typing import Any

from django.utils import timezone

from diagnosis.checks.answer import answer_of_batch, answer_of_host
from diagnosis.checks.output import Ending, Output
from diagnosis.checks.suite import Suite
from diagnosis.checks.verdict import BatchVerdict, Decision, HostVerdict, Judge
from diagnosis.core.diagnosis import Diagnosis
from diagnosis.models import CheckedHost, CheckRun, RunState, TaskState
from diagnosis.services.own_answers import store_answer
from incidents.choices import HostState, IncidentKind, Severity
from incidents.models import Incident
from incidents.models.incident import HOLD_KEY
from incidents.roles import Actor
from incidents.services.events import record
from incidents.services.hosts import PASSED_CHECK, set_state
from incidents.services.incidents import add_note
from incidents.services.opening import open_incident

CHECKER = Actor.system("the delivery check")
#: The history is made of so many runs of the same suite in the same cluster.
HISTORY_RUNS = 50
#: States that a host without a verdict goes back to; from elsewhere it counts as suspect.
_OUT = {HostState.ISOLATED, HostState.IN_REPAIR}


def judge(run: CheckRun, suite: Suite) -> BatchVerdict:
    """The verdict on what the run has so far."""
    outputs: dict[str, dict[str, list[Output]]] = {
        one.host.name: {} for one in run.hosts.select_related("host")
    }
    for task in run.tasks.filter(state=TaskState.DONE).order_by("id"):
        output = Output(task.stdout, task.stderr, task.exit_code, Ending(task.ending))
        for name in task.members:
            outputs[name].setdefault(task.item, []).append(output)
    return Judge(suite, history_of(run))(outputs)


def history_of(run: CheckRun) -> dict[str, dict[str, Any]]:
    """Item → host → the value by which it was last delivered, in earlier runs."""
    earlier = CheckRun.objects.filter(
        cluster=run.cluster, suite__code=run.suite.code, state=RunState.DONE
    ).exclude(pk=run.pk)
    newest = list(earlier.order_by("-id").values_list("learned", flat=True)[:HISTORY_RUNS])
    history: dict[str, dict[str, Any]] = {}
    for learned in reversed(newest):
        for item, values in learned.items():
            history.setdefault(item, {}).update(values)
    return history


def finish(run: CheckRun, verdict: BatchVerdict) -> None:
    """Writes the verdict down, within the caller's transaction."""
    run.state, run.finished_at = RunState.DONE, timezone.now()
    run.decision, run.mass = verdict.decision, list(verdict.mass)
    run.learned = {item: dict(values) for item, values in verdict.learned.items()}
    run.save()
    for one in run.hosts.select_related("host"):
        _decide(run, one, verdict.of(one.host.name))
    if verdict.mass:
        _suspect_update(run, verdict)
    record(
        actor=CHECKER,
        verb="check.finished",
        text=f"{run}: {summary_of(verdict)}",
        data={"run": run.pk, "decision": run.decision, "mass": run.mass},
    )


def summary_of(verdict: BatchVerdict) -> str:
    """The verdict in one sentence."""
    counts = {
        decision: sum(one.decision == decision for one in verdict.hosts) for decision in Decision
    }
    text = (
        f"{counts[Decision.DELIVER]} to deliver, {counts[Decision.HOLD]} held, "
        f"{counts[Decision.REPEAT]} to repeat"
    )
    if verdict.mass:
        text += f"; {', '.join(verdict.mass)} failed on many hosts at once: roll the update back"
    return text


def _decide(run: CheckRun, one: CheckedHost, verdict: HostVerdict) -> None:
    one.decision = verdict.decision
    one.reasons = [asdict(reason) for reason in verdict.reasons]
    if verdict.decision == Decision.DELIVER:
        _deliver(run, one)
    elif verdict.decision == Decision.HOLD:
        _hold(run, one, verdict)
    else:
        before = one.before in _OUT
        state = HostState(one.before) if before else HostState.SUSPECT
        note = f"check {run.pk} could not decide"
        set_state(actor=CHECKER, host=one.host, state=state, note=note)
    one.save()


def _deliver(run: CheckRun, one: CheckedHost) -> None:
    record(
        actor=CHECKER,
        verb=PASSED_CHECK,
        text=f"{one.host} passed check {run.pk}",
        host=one.host,
        data={"run": run.pk},
    )
    note = f"passed check {run.pk}"
    set_state(actor=CHECKER, host=one.host, state=HostState.IN_SERVICE, note=note)


def _hold(run: CheckRun, one: CheckedHost, verdict: HostVerdict) -> None:
    first = verdict.against[0]
    incident, _ = open_incident(
        actor=CHECKER,
        title=f"{one.host} held before delivery: {run.suite.suite.item(first.item).title}",
        kind=IncidentKind.CHECK,
        severity=Severity.MEDIUM,
        dedup_key=f"{HOLD_KEY}{one.host.cluster_id}:{one.host.normalised_name}",
        hosts=[one.host.name],
        cluster=run.cluster.name,
    )
    text = "\n".join(f"- {reason.text}" for reason in verdict.against)
    add_note(actor=CHECKER, incident=incident, text=f"Check {run.pk} held {one.host}:\n{text}")
    _store(run, incident, answer_of_host(verdict, run.suite.suite))
    one.incident = incident
    note = f"check {run.pk}: {first.text}"
    set_state(actor=CHECKER, host=one.host, state=HostState.ISOLATED, note=note)


def _suspect_update(run: CheckRun, verdict: BatchVerdict) -> None:
    """One incident for the whole batch: rolling back is a decision, and somebody has to take it."""
    answer = answer_of_batch(verdict.mass, verdict.hosts, run.suite.suite)
    incident, _ = open_incident(
        actor=CHECKER,
        title=f"{run} failed as a whole: {answer.verdict.summary}",
        kind=IncidentKind.CHECK,
        severity=Severity.HIGH,
        dedup_key=f"check-batch:{run.cluster_id}:{run.suite.code}",
        cluster=run.cluster.name,
    )
    _store(run, incident, answer)
    run.incident = incident
    run.save(update_fields=["incident"])


def _store(run: CheckRun, incident: Incident, answer: Diagnosis) -> None:
    """The rules that the answer rests on are those of the suite's version."""
    rules = f"suite-{run.suite.code}-{run.suite.version}"
    ruled = replace(answer, taxonomy_version=rules)
    store_answer(actor=CHECKER, incident=incident, answer=ruled, owner=str(run))
