"""Checks from the start to the verdict, with runners that answer as told."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from diagnosis.models import CheckedHost, CheckRun, CheckRunner, CheckTask, RunState, TaskState
from diagnosis.services import check_runs, check_suites, check_tasks
from incidents.choices import HostState, Role
from incidents.exceptions import InvalidInput, NotAllowed, TransitionRefused
from incidents.models import Host, Incident
from incidents.services import hosts
from tests.factories import actor

pytestmark = pytest.mark.django_db

OPERATOR = actor(Role.OPERATOR)
NAMES = [f"node-{number}" for number in range(6)]
GOOD = {
    "kernel": "6.1",
    "open_files": "1024",
    "mtu": "1500",
    "offset_s": "0",
    "memory_gbps": "10",
    "matmul_mflops": "50",
    "write_mbps": "200",
    "loopback_gbps": "30",
    "pair_gbps": "20",
}
Said = Callable[[CheckTask], str | None]


def runner_of(name: str) -> CheckRunner:
    return CheckRunner.objects.select_related("host").get(host__name=name)


def good(task: CheckTask) -> str | None:
    value = task.definition.value
    return f"reading {value} {GOOD[value]}\ndone\n"


def odd(host: str, item: str, output: str | None) -> Said:
    return lambda task: output if (task.host.name, task.item) == (host, item) else good(task)


def started(names: list[str] = NAMES) -> CheckRun:
    for name in names:
        check_tasks.register(actor=OPERATOR, name=name)
    return check_runs.start(actor=OPERATOR, suite="cpu", names=names)


def played(run: CheckRun, said: Said = good, steps: int = 400) -> CheckRun:
    """The run after runners took everything; None stands for a time-out."""
    for _ in range(steps):
        run.refresh_from_db()
        if run.is_over:
            break
        for checked in run.hosts.select_related("host"):
            task = check_tasks.claim(actor=OPERATOR, runner=runner_of(checked.host.name))
            if task is not None:
                answer(task, said(task))
        check_runs.go_on(run.pk)
    return run


def answer(task: CheckTask, output: str | None) -> None:
    ending = "timed-out" if output is None else "exited"
    check_tasks.take_output(
        actor=OPERATOR, task=task, stdout=output or "", ending=ending, exit_code=0
    )


def decisions(run: CheckRun) -> dict[str, str]:
    return {one.host.name: one.decision for one in run.hosts.select_related("host")}


def test_healthy_hosts_are_delivered_and_back_in_service():
    run = played(started())
    assert run.state == RunState.DONE
    assert set(decisions(run).values()) == {"deliver"}
    assert {one.state for one in Host.objects.all()} == {HostState.IN_SERVICE}


@pytest.mark.parametrize(
    ("item", "output", "why"),
    [
        ("matmul", "reading matmul_mflops 10\ndone\n", "Matrix product: 10"),
        ("kernel", "reading kernel 5.4\ndone\n", "; wanted as most peers: 6.1"),
        ("disk", None, "hangs"),
    ],
)
def test_a_faulty_host_alone_is_held_and_gets_an_incident_that_says_why(item, output, why):
    run = played(started(), odd("node-3", item, output))
    found = decisions(run)
    assert found.pop("node-3") == "hold"
    assert set(found.values()) == {"deliver"}
    held = CheckedHost.objects.get(run=run, decision="hold")
    assert held.incident is not None
    assert held.incident.title.startswith("node-3 held before delivery")
    diagnosis = held.incident.diagnoses.get()
    assert diagnosis.suspects.get().target_host == "node-3"
    assert why in diagnosis.findings.get().text
    action = "fix-config" if item == "kernel" else "isolate-host"
    assert diagnosis.recommendations.get().action == action
    assert held.host.state == HostState.ISOLATED


def test_a_second_hold_of_a_host_joins_its_open_incident():
    said = odd("node-3", "kernel", "reading kernel 5.4\ndone\n")
    first = played(started(), said)
    played(check_runs.repeat(actor=OPERATOR, run=first), said)
    assert Incident.objects.count() == 1


def test_garbage_neither_delivers_nor_holds():
    run = played(started(), odd("node-3", "memory", "Segmentation fault\n"))
    assert decisions(run)["node-3"] == "repeat"
    assert Host.objects.get(name="node-3").state == HostState.SUSPECT


def test_a_mass_failure_holds_the_batch_and_asks_to_roll_back_in_one_incident():
    def broken(task: CheckTask) -> str | None:
        return "reading offset_s 50\ndone\n" if task.item == "clock" else good(task)

    run = played(started(), broken)
    assert (run.decision, run.mass) == ("hold", ["clock"])
    assert run.incident == Incident.objects.get()
    assert run.incident.diagnoses.get().recommendations.get().action == "roll-back"
    assert not CheckedHost.objects.exclude(incident=None).exists()


def test_what_a_run_learns_judges_the_next_one():
    played(started([f"old-{number}" for number in range(9)]))
    run = played(started(["fresh"]), odd("fresh", "memory", "reading memory_gbps 3\ndone\n"))
    assert decisions(run) == {"fresh": "hold"}


def test_a_runner_that_starts_anew_gets_its_task_again():
    run = started()
    task = check_tasks.claim(actor=OPERATOR, runner=runner_of("node-0"))
    assert task is not None
    check_tasks.take_output(actor=OPERATOR, task=task, stdout="half")
    again = check_tasks.register(actor=OPERATOR, name="node-0")
    same = check_tasks.claim(actor=OPERATOR, runner=again)
    assert same is not None
    assert (same.pk, same.stdout) == (task.pk, "")
    answer(same, good(same))
    assert set(decisions(played(run)).values()) == {"deliver"}


def test_output_for_a_task_that_was_given_to_another_is_refused():
    started()
    task = check_tasks.claim(actor=OPERATOR, runner=runner_of("node-0"))
    assert task is not None
    check_tasks.give_back(task)
    with pytest.raises(TransitionRefused):
        answer(task, "late")


def test_what_a_lost_runner_held_is_given_back_by_the_sweep():
    run = started()
    task = check_tasks.claim(actor=OPERATOR, runner=runner_of("node-0"))
    assert task is not None
    long_ago = timezone.now() - timedelta(seconds=1)
    CheckTask.objects.filter(pk=task.pk).update(lease_expires_at=long_ago)
    check_runs.go_on(run.pk)
    task.refresh_from_db()
    assert (task.state, task.lost) == (TaskState.WAITING, 1)


def test_a_run_without_runners_ends_at_its_deadline_and_delivers_nothing():
    run = started()
    CheckRun.objects.filter(pk=run.pk).update(deadline_at=timezone.now() - timedelta(seconds=1))
    for _ in range(5):
        check_runs.go_on(run.pk)
    run.refresh_from_db()
    assert run.is_over
    assert set(decisions(run).values()) == {"repeat"}


def test_a_host_is_in_one_run_at_a_time():
    started()
    with pytest.raises(TransitionRefused, match="node-1"):
        check_runs.start(actor=OPERATOR, suite="cpu", names=["node-1"])


def test_a_cancelled_run_leaves_hosts_where_they_stood():
    run = started()
    check_runs.cancel(actor=OPERATOR, run=run)
    assert {one.state for one in Host.objects.all()} == {HostState.IN_SERVICE}


def test_only_operators_start_checks():
    with pytest.raises(NotAllowed):
        check_runs.start(actor=actor(Role.RESPONDER), suite="cpu", names=NAMES)


def test_an_isolated_host_returns_once_it_has_passed_a_check():
    run = played(started(), odd("node-3", "kernel", "reading kernel 5.4\ndone\n"))
    host = Host.objects.get(name="node-3")
    with pytest.raises(TransitionRefused, match="delivery check"):
        hosts.set_state(actor=OPERATOR, host=host, state=HostState.IN_SERVICE)
    played(check_runs.repeat(actor=OPERATOR, run=run))
    host.refresh_from_db()
    assert host.state == HostState.IN_SERVICE


def test_a_reason_returns_a_host_without_a_check():
    played(started(), odd("node-3", "kernel", "reading kernel 5.4\ndone\n"))
    host = Host.objects.get(name="node-3")
    hosts.set_state(actor=OPERATOR, host=host, state=HostState.IN_SERVICE, note="kernel is wanted")
    host.refresh_from_db()
    assert host.state == HostState.IN_SERVICE


def test_an_edited_suite_is_a_new_version_and_runs_that_began_keep_theirs():
    run = started()
    document = dict(run.suite.definition, title="Ours")
    saved = check_suites.save_version(actor=OPERATOR, definition=document, why="our name")
    assert (saved.version, check_suites.newest("cpu").title) == (2, "Ours")
    run.refresh_from_db()
    assert run.suite.version == 1


def test_an_unusable_suite_is_refused_with_the_reason():
    with pytest.raises(InvalidInput, match="items"):
        check_suites.save_version(actor=OPERATOR, definition="code: x\ntitle: X\n")


def test_pairs_change_partners_between_rounds():
    run = started()
    check_runs.go_on(run.pk)
    played(run)
    pairs = run.tasks.filter(item="pair-network", role="client")
    partners = {(one.host.name, one.peer.name if one.peer else "") for one in pairs}
    assert len(partners) > 3
