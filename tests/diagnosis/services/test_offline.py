"""Offline diagnoses whose rounds runners run, to the incident with its recommendation."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from diagnosis.models import CheckRunner, CheckTask, OfflineDiagnosis, RunState
from diagnosis.services import check_tasks, offline
from incidents.choices import HostState, Role
from incidents.exceptions import HostsInService, InvalidInput, TransitionRefused
from incidents.models import Attempt, Event, Host, Incident
from incidents.reach import Reach, within
from tests.factories import (
    AttemptFactory,
    ClusterFactory,
    HostFactory,
    RankPlacementFactory,
    actor,
)

pytestmark = pytest.mark.django_db

OPERATOR = actor(Role.OPERATOR)
NAMES = [f"n-{tor}-{host}" for tor in range(2) for host in range(4)]
GOOD = "reading pair_gbps 20\ndone\n"
#: What a task's command left: its output, None for a time-out, "missing" for no tool.
Said = Callable[[CheckTask], str | None]


@pytest.fixture
def hosts() -> list[str]:
    cluster = ClusterFactory(name="default")
    for name in NAMES:
        HostFactory(cluster=cluster, name=name, pod="p", tor=f"tor-{name[2]}")
        check_tasks.register(actor=OPERATOR, name=name)
    return NAMES


def begun(names: list[str], item: str = "pair-network", suite: str = "cpu") -> OfflineDiagnosis:
    return offline.start(actor=OPERATOR, names=names, suite=suite, item=item, confirm=True)


def spoilt(host: str, output: str | None) -> Said:
    """Every pair with the host fails, at both its ends."""
    return lambda task: output if host in {task.host.name, str(task.peer)} else GOOD


def played(diagnosis: OfflineDiagnosis, said: Said, steps: int = 400) -> OfflineDiagnosis:
    for _ in range(steps):
        diagnosis.refresh_from_db()
        if diagnosis.is_over:
            break
        for runner in CheckRunner.objects.select_related("host"):
            task = check_tasks.claim(actor=OPERATOR, runner=runner)
            if task is not None:
                answer(task, said(task))
        offline.go_on(diagnosis.pk)
    return diagnosis


def answer(task: CheckTask, output: str | None) -> None:
    ending = {None: "timed-out", "missing": "missing"}.get(output, "exited")
    check_tasks.take_output(
        actor=OPERATOR, task=task, stdout=output or "", ending=ending, exit_code=0
    )


@pytest.mark.parametrize("output", [None, "reading pair_gbps 2\ndone\n"], ids=["hangs", "is slow"])
def test_runners_take_the_plan_to_the_faulty_host_and_its_incident(hosts, output):
    done = played(begun(hosts), spoilt("n-1-2", output))
    assert done.state == RunState.DONE
    assert [one["target"]["host"] for one in done.answer["suspects"]] == ["n-1-2"]
    incident = Incident.objects.get()
    assert done.incident == incident
    recommended = incident.diagnoses.get().recommendations.get()
    assert (recommended.action, recommended.target_host) == ("isolate-host", "n-1-2")


def test_healthy_hosts_open_no_incident(hosts):
    done = played(begun(hosts), lambda task: GOOD)
    assert done.answer["verdict"]["class"] == "healthy"
    assert not Incident.objects.exists()


@pytest.mark.parametrize("output", ["missing", "Segmentation fault\n"])
def test_what_is_no_answer_convicts_nobody_and_clears_nobody(hosts, output):
    done = played(begun(hosts), lambda task: output)
    assert done.answer["verdict"]["class"] == "unknown"
    assert not Incident.objects.exists()


def test_a_test_that_is_started_once_a_group_gets_all_its_hosts(hosts):
    begun(hosts, suite="full", item="collective")
    tasks = CheckTask.objects.order_by("group")
    assert [len(task.members) for task in tasks] == [2, 2, 2, 2]
    assert [task.host.name for task in tasks] == [task.members[0] for task in tasks]


def test_runners_that_never_come_leave_the_round_without_an_answer(hosts):
    diagnosis = begun(hosts)
    for _ in range(30):
        long_ago = timezone.now() - timedelta(hours=1)
        OfflineDiagnosis.objects.update(deadline_at=long_ago)
        offline.go_on(diagnosis.pk)
    diagnosis.refresh_from_db()
    assert diagnosis.is_over
    assert set(diagnosis.rounds[0]["results"]) == {None}


def test_a_round_that_runners_work_on_may_be_answered_by_hand(hosts):
    diagnosis = begun(hosts)
    offline.answer(actor=OPERATOR, diagnosis=diagnosis, number=1, results=[True] * 4)
    assert not CheckTask.objects.filter(number=1).exclude(state="done").exists()
    assert CheckTask.objects.filter(number=2, state="waiting").exists()


def test_a_cancelled_diagnosis_gives_its_runners_nothing_more(hosts):
    diagnosis = begun(hosts)
    offline.cancel(actor=OPERATOR, diagnosis=diagnosis)
    assert check_tasks.claim(actor=OPERATOR, runner=CheckRunner.objects.all()[0]) is None
    with pytest.raises(TransitionRefused, match="over"):
        offline.cancel(actor=OPERATOR, diagnosis=diagnosis)


def test_hosts_in_service_and_their_jobs_are_asked_about(hosts):
    Host.objects.update(state=HostState.ISOLATED)
    Host.objects.filter(name="n-0-0").update(state=HostState.SUSPECT)
    attempt = AttemptFactory(job__name="llama", number=3)
    RankPlacementFactory(attempt=attempt, host=Host.objects.get(name="n-1-1"))
    over = RankPlacementFactory(host=Host.objects.get(name="n-1-2"), attempt__number=1)
    Attempt.objects.filter(pk=over.attempt_id).update(ended_at=timezone.now())
    said = r"Not out of service: n-0-0, n-1-1\. Jobs run there: llama, attempt 3\."
    with pytest.raises(HostsInService, match=said):
        offline.start(actor=OPERATOR, names=hosts)
    assert not OfflineDiagnosis.objects.exists()
    offline.start(actor=OPERATOR, names=hosts, confirm=True)
    started = Event.objects.get(verb="offline.started")
    assert started.text.endswith("of 8 hosts, 2 of them in service, which was confirmed")


def test_a_job_out_of_reach_is_counted_and_not_named(hosts):
    attempt = AttemptFactory(job__name="secret", job__owner="them")
    RankPlacementFactory(attempt=attempt, host=Host.objects.get(name="n-1-1"))
    with (
        within(Reach.of(clusters=(), owners=["us"])),
        pytest.raises(HostsInService, match="Jobs run there: 1 of other people"),
    ):
        offline.start(actor=OPERATOR, names=hosts)


def test_hosts_out_of_service_are_not_asked_about(hosts):
    Host.objects.update(state=HostState.ISOLATED)
    assert offline.start(actor=OPERATOR, names=hosts).rounds


@pytest.mark.parametrize(("suite", "item"), [("cpu", "matmul"), ("cpu", "no"), ("no", "rdma")])
def test_only_items_that_span_hosts_can_test_a_group(suite, item):
    with pytest.raises(InvalidInput, match=r"There is no suite|several hosts"):
        offline.start(actor=OPERATOR, names=["a", "b"], suite=suite, item=item)
