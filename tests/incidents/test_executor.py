"""Commands that are really run: stand-ins for `scontrol` and `kubectl` write down what they get."""

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from incidents import executor
from incidents.choices import Action, DecisionKind, ExecutionState, HostState, Role
from incidents.exceptions import (
    InvalidInput,
    NotAllowed,
    TooManyIsolations,
    TransitionRefused,
)
from incidents.models import Execution, Host, Recommendation
from incidents.reach import Reach, within
from incidents.services import executions
from incidents.services.decisions import decide
from incidents.services.events import record
from incidents.services.hosts import PASSED_CHECK
from incidents.services.opening import open_incident
from tests.factories import (
    DiagnosisFactory,
    HostFactory,
    IncidentFactory,
    JobFactory,
    RankPlacementFactory,
    RecommendationFactory,
    actor,
)

pytestmark = pytest.mark.django_db
SLURM = ["scontrol", "update", "nodename={host}", "state=drain", "reason={reference}"]
KUBERNETES = ["kubectl", "cordon", "--", "{host}"]

StandIn = Callable[..., Path]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """A program on the PATH that writes its arguments down, one a line, then does as told."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def make(name: str, then: str = "echo done") -> Path:
        calls = tmp_path / f"{name}.calls"
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {calls}\n{then}\n')
        program.chmod(0o755)
        return calls

    return make


@pytest.fixture(autouse=True)
def _switched_on(settings) -> None:
    settings.EXECUTORS = {"slurm": SLURM}


def accepted(host: str = "node-017", **job: object) -> Recommendation:
    """An accepted isolation of a registered host."""
    found = JobFactory(**job)
    incident = IncidentFactory(job=found, cluster=found.cluster)
    HostFactory(cluster=found.cluster, name=host, pod="1")
    recommendation = RecommendationFactory(
        diagnosis=DiagnosisFactory(incident=incident, done=True),
        action=Action.ISOLATE_HOST,
        target_host=host,
    )
    decide(actor=actor(), recommendation=recommendation, kind=DecisionKind.ACCEPT, confirm=True)
    return recommendation


def planned(recommendation: Recommendation) -> Execution:
    return executions.plan(actor=actor(Role.OPERATOR), recommendation=recommendation)[0]


def ran(recommendation: Recommendation) -> Execution:
    """Planned, asked for and run by a worker."""
    execution = planned(recommendation)
    executions.ask_to_run(actor=actor(Role.OPERATOR), execution=execution)
    executor.execute(execution.pk)
    execution.refresh_from_db()
    return execution


def test_a_plan_shows_the_command_and_runs_nothing(stand_in: StandIn):
    calls = stand_in("scontrol")
    recommendation = accepted()
    execution = planned(recommendation)
    reference = recommendation.diagnosis.incident.reference
    assert execution.argv == [
        "scontrol", "update", "nodename=node-017", "state=drain", f"reason={reference}",
    ]  # fmt: skip
    assert not calls.exists()


def test_the_exact_arguments_are_run_and_the_output_kept(stand_in: StandIn):
    calls = stand_in("scontrol", "echo drained; echo warning >&2")
    execution = ran(accepted())
    assert calls.read_text().splitlines() == execution.argv[1:]
    assert (execution.state, execution.exit_code) == (ExecutionState.DONE, 0)
    assert execution.output == "drained\nwarning\n"


def test_kubectl_is_run_where_it_is_the_jobs_scheduler(stand_in: StandIn, settings):
    settings.EXECUTORS = {"slurm": SLURM, "kubernetes": KUBERNETES}
    calls = stand_in("kubectl")
    execution = ran(accepted(source="kubernetes"))
    assert execution.state == ExecutionState.DONE
    assert calls.read_text().splitlines() == ["cordon", "--", "node-017"]


def test_a_run_leaves_one_event_of_whoever_asked(stand_in: StandIn):
    stand_in("scontrol")
    recommendation = accepted()
    execution = ran(recommendation)
    (event,) = recommendation.diagnosis.incident.events.filter(verb__startswith="execution.")
    assert (event.verb, event.actor) == ("execution.ended", execution.asked_by)
    assert (event.data["argv"], event.data["exit_code"]) == (execution.argv, 0)


def test_nothing_runs_twice_for_one_recommendation(stand_in: StandIn):
    calls = stand_in("scontrol")
    execution = ran(accepted())
    assert not executor.execute(execution.pk)
    with pytest.raises(TransitionRefused, match="run already"):
        executions.ask_to_run(actor=actor(Role.OPERATOR), execution=execution)
    again, new = executions.plan(
        actor=actor(Role.OPERATOR), recommendation=execution.recommendation
    )
    assert (again.pk, new) == (execution.pk, False)
    assert len(calls.read_text().splitlines()) == len(execution.argv) - 1


def test_a_later_run_that_recommends_the_same_does_not_run_it_again(stand_in: StandIn):
    stand_in("scontrol")
    recommendation = accepted()
    ran(recommendation)
    later = RecommendationFactory(
        diagnosis=DiagnosisFactory(incident=recommendation.diagnosis.incident, done=True),
        action=Action.ISOLATE_HOST,
        target_host="node-017",
    )
    decide(actor=actor(), recommendation=later, kind=DecisionKind.ACCEPT)
    with pytest.raises(TransitionRefused, match="node-017 was run already"):
        executions.ask_to_run(actor=actor(Role.OPERATOR), execution=planned(later))


def test_a_command_that_fails_says_so_and_is_not_tried_again(stand_in: StandIn):
    stand_in("scontrol", "echo 'Invalid node name' >&2; exit 3")
    execution = ran(accepted())
    assert (execution.state, execution.exit_code) == (ExecutionState.FAILED, 3)
    assert "Invalid node name" in execution.output


def test_a_command_that_hangs_is_stopped_with_what_it_started(stand_in: StandIn, settings):
    settings.EXECUTOR_SECONDS = 2
    stand_in("scontrol", "echo begun; sleep 60 & wait")
    execution = ran(accepted())
    assert (execution.state, execution.exit_code) == (ExecutionState.FAILED, None)
    assert "stopped after 2 seconds" in execution.reason
    assert execution.output == "begun\n"


def test_a_program_that_is_not_there_says_so(settings):
    settings.EXECUTORS = {"slurm": ["no-such-scontrol", "{host}"]}
    execution = ran(accepted())
    assert (execution.state, execution.exit_code) == (ExecutionState.FAILED, None)
    assert "no-such-scontrol" in execution.reason


def test_no_shell_reads_what_the_incident_says(stand_in: StandIn, settings, tmp_path: Path):
    settings.EXECUTORS = {"slurm": ["scontrol", "nodename={host}", f"reason=$(touch {tmp_path}/x)"]}
    calls = stand_in("scontrol")
    ran(accepted())
    assert f"reason=$(touch {tmp_path}/x)" in calls.read_text()
    assert not (tmp_path / "x").exists()


def test_the_command_sees_none_of_our_secrets(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AEGIS_SECRET_KEY", "do not tell")
    stand_in("scontrol", "env")
    assert "do not tell" not in ran(accepted()).output


@pytest.mark.parametrize("host", ["node-[001-100]", "a,b", "-A", "ALL", "all"])
def test_a_name_that_could_mean_more_than_one_host_is_refused(host: str):
    with pytest.raises(InvalidInput):
        planned(accepted(host))


def test_a_host_that_nobody_registered_is_refused():
    recommendation = accepted()
    Recommendation.objects.filter(pk=recommendation.pk).update(target_host="elsewhere")
    with pytest.raises(InvalidInput):
        planned(recommendation)


def on_a_host_told_of_by_reports(name: str = "node-031") -> Recommendation:
    """An accepted isolation of a host that an incident alone brought along."""
    incident, _ = open_incident(actor=actor(), title="it hangs", hosts=[name])
    recommendation = RecommendationFactory(
        diagnosis=DiagnosisFactory(incident=incident, done=True),
        action=Action.ISOLATE_HOST,
        target_host=name,
    )
    decide(actor=actor(), recommendation=recommendation, kind=DecisionKind.ACCEPT, confirm=True)
    return recommendation


def test_a_host_that_reports_alone_told_of_is_refused_with_what_to_do():
    with pytest.raises(TransitionRefused, match=r"Only reports told of node-031.*topology"):
        planned(on_a_host_told_of_by_reports())


def _saved_by_an_operator(host: Host) -> None:
    record(actor=actor(), verb="host.changed", text="saved", host=host)


def _passed_its_check(host: Host) -> None:
    record(actor=actor(), verb=PASSED_CHECK, text="passed", host=host)


def _placed(host: Host) -> None:
    RankPlacementFactory(host=host)


@pytest.mark.parametrize("vouch", [_saved_by_an_operator, _passed_its_check, _placed])
def test_a_host_that_something_else_told_of_is_planned(vouch: Callable[[Host], None]):
    recommendation = on_a_host_told_of_by_reports()
    vouch(Host.objects.get(name="node-031"))
    assert planned(recommendation).host == "node-031"


def test_a_host_that_another_cluster_has_too_is_refused_with_what_to_do():
    recommendation = accepted()
    HostFactory(name="NODE-017.example")
    with pytest.raises(TransitionRefused, match=r"Another cluster has a host.*by hand"):
        planned(recommendation)


def test_a_host_that_turned_up_in_another_cluster_since_the_plan_is_not_run(stand_in: StandIn):
    calls = stand_in("scontrol")
    execution = planned(accepted())
    HostFactory(name="node-017")
    with pytest.raises(TransitionRefused, match="Another cluster"):
        executions.ask_to_run(actor=actor(Role.OPERATOR), execution=execution)
    assert not calls.exists()


def test_a_command_that_names_the_cluster_may_take_a_host_whose_name_another_one_has(
    stand_in: StandIn, settings
):
    settings.EXECUTORS = {"slurm": ["scontrol", "-M", "{cluster}", "update", "nodename={host}"]}
    calls = stand_in("scontrol")
    recommendation = accepted(cluster__name="north-2")
    HostFactory(name="node-017")
    assert ran(recommendation).state == ExecutionState.DONE
    assert calls.read_text().splitlines() == ["-M", "north-2", "update", "nodename=node-017"]


@pytest.mark.parametrize("name", ["--all", "all", "a b", "x;reboot", "{host}", "a,b"])
def test_a_cluster_whose_name_may_mean_something_else_is_not_handed_to_a_scheduler(name, settings):
    settings.EXECUTORS = {"slurm": ["scontrol", "-M", "{cluster}", "update", "nodename={host}"]}
    with pytest.raises(TransitionRefused, match="no plain name"):
        planned(accepted(cluster__name=name))


def test_another_cluster_out_of_reach_counts_too():
    recommendation = accepted()
    HostFactory(name="node-017")
    own = recommendation.diagnosis.incident.cluster.name
    with (
        within(Reach.of(clusters=[own], owners=[])),
        pytest.raises(TransitionRefused, match="Another"),
    ):
        planned(recommendation)


def test_it_is_off_unless_switched_on(settings):
    settings.EXECUTORS = {}
    with pytest.raises(TransitionRefused, match="AEGIS_EXECUTOR"):
        planned(accepted())


def test_the_executor_of_another_scheduler_is_not_used():
    with pytest.raises(TransitionRefused, match="scheduler"):
        planned(accepted(source="kubernetes"))


def test_what_nobody_accepted_is_not_planned():
    recommendation = RecommendationFactory(action=Action.ISOLATE_HOST, target_host="n")
    with pytest.raises(TransitionRefused, match="Nobody accepted"):
        planned(recommendation)


def test_a_plan_whose_decision_was_changed_is_not_run(stand_in: StandIn):
    stand_in("scontrol")
    recommendation = accepted()
    execution = planned(recommendation)
    decide(actor=actor(), recommendation=recommendation, kind=DecisionKind.REJECT, reason="no")
    with pytest.raises(TransitionRefused):
        executions.ask_to_run(actor=actor(Role.OPERATOR), execution=execution)
    decide(actor=actor(), recommendation=recommendation, kind=DecisionKind.ACCEPT)
    assert planned(recommendation).pk != execution.pk


@pytest.mark.parametrize("role", [Role.VIEWER, Role.RESPONDER, Role.TAXONOMIST])
def test_it_has_a_permission_of_its_own(role: Role):
    recommendation = accepted()
    execution = planned(recommendation)
    with pytest.raises(NotAllowed):
        executions.plan(actor=actor(role), recommendation=recommendation)
    with pytest.raises(NotAllowed):
        executions.ask_to_run(actor=actor(role), execution=execution)


def test_beyond_the_limit_of_isolations_it_takes_a_second_word(stand_in: StandIn, settings):
    settings.ISOLATION_MAX_HOSTS = 1
    stand_in("scontrol")
    recommendation = accepted()
    execution = planned(recommendation)
    cluster = recommendation.diagnosis.incident.cluster
    HostFactory(cluster=cluster, name="node-018", state=HostState.IN_SERVICE)
    decide(
        actor=actor(),
        recommendation=RecommendationFactory(
            diagnosis=DiagnosisFactory(incident=IncidentFactory(cluster=cluster), done=True),
            action=Action.ISOLATE_HOST,
            target_host="node-018",
        ),
        kind=DecisionKind.ACCEPT,
        confirm=True,
    )
    with pytest.raises(TooManyIsolations):
        executions.ask_to_run(actor=actor(Role.OPERATOR), execution=execution)
    asked = executions.ask_to_run(actor=actor(Role.OPERATOR), execution=execution, confirm=True)
    assert asked.state == ExecutionState.WAITING


def test_an_order_that_no_worker_took_is_void(stand_in: StandIn):
    calls = stand_in("scontrol")
    execution = planned(accepted())
    executions.ask_to_run(actor=actor(Role.OPERATOR), execution=execution)
    late = timezone.now() - executions.VOID_AFTER - timedelta(seconds=1)
    Execution.objects.update(asked_at=late)
    assert not executor.execute(execution.pk)
    assert executions.void_and_lost() == 1
    execution.refresh_from_db()
    assert (execution.state, calls.exists()) == (ExecutionState.FAILED, False)


def test_a_worker_that_died_leaves_it_unknown_and_not_run_again(stand_in: StandIn):
    calls = stand_in("scontrol")
    execution = planned(accepted())
    executions.ask_to_run(actor=actor(Role.OPERATOR), execution=execution)
    assert executions.begin(execution.pk) is not None
    Execution.objects.update(started_at=timezone.now() - timedelta(hours=1))
    assert executions.void_and_lost() == 1
    execution.refresh_from_db()
    assert execution.state == ExecutionState.UNKNOWN
    assert not executor.execute(execution.pk)
    assert not calls.exists()
