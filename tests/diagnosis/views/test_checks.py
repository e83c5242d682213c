"""Pages of the delivery checks and of offline diagnoses."""

import pytest
from django.test import Client

from diagnosis.models import CheckRun, OfflineDiagnosis
from diagnosis.services import check_runs
from incidents.choices import Role
from incidents.models import Host, Incident
from tests.diagnosis.services.test_checks import NAMES, OPERATOR, odd, played, started
from tests.factories import (
    AttemptFactory,
    ClusterFactory,
    HostFactory,
    IncidentFactory,
    RankPlacementFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db

#: That hosts in service may be tested.
CONFIRMED = {"confirm": "yes"}


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(UserFactory(role=Role.OPERATOR))
    return client


def four_hosts(cluster: str) -> None:
    place = ClusterFactory(name=cluster)
    for name in "abcd":
        HostFactory(cluster=place, name=name)


def test_an_operator_starts_a_check_from_the_list(operator: Client):
    four_hosts("default")
    answer = operator.post("/checks/start", {"hosts": "a, b c", "suite": "cpu", "cluster": ""})
    run = CheckRun.objects.get()
    assert answer.headers["Location"] == f"/checks/{run.pk}"
    assert run.hosts.count() == 3


def test_hosts_that_run_a_job_are_asked_about_before_a_check(operator: Client):
    four_hosts("default")
    RankPlacementFactory(host=Host.objects.get(name="a"), attempt=AttemptFactory())
    form = {"hosts": "a, b", "suite": "cpu", "cluster": "default"}
    asked = operator.post("/checks/start", form)
    page = asked.content.decode()
    assert (asked.status_code, CheckRun.objects.count()) == (409, 0)
    assert "Check hosts that run a job?" in page
    assert 'action="/checks/start"' in page
    operator.post("/checks/start", {**form, **CONFIRMED})
    assert CheckRun.objects.get().hosts.count() == 2


def test_a_cancelled_check_counts_no_command_that_did_not_run(operator: Client):
    run = check_runs.cancel(actor=OPERATOR, run=started())
    rows = operator.get(f"/checks/{run.pk}").context["rows"]
    assert {one.done for one in rows} == {0}


def test_a_host_that_is_not_registered_is_named_and_nothing_starts(operator: Client):
    four_hosts("default")
    ClusterFactory(name="a-first")
    form = {"hosts": "a, nobody", "suite": "cpu", "cluster": "default"}
    page = operator.post("/checks/start", form).content.decode()
    assert "Not registered in cluster default: nobody." in page
    assert "<option selected>default</option>" in page
    assert "a, nobody</textarea>" in page
    assert not CheckRun.objects.exists()


def test_the_page_says_who_is_held_why_and_what_changed_since_the_last_check(operator: Client):
    first = played(started())
    said = odd("node-3", "kernel", "reading kernel 5.4\ndone\n")
    run = played(check_runs.repeat(actor=OPERATOR, run=first), said)
    text = operator.get(f"/checks/{run.pk}").content.decode()
    assert "5 to deliver, 1 held" in text
    assert "Deliver in part" in text
    assert operator.get("/checks").content.decode().count("Deliver in part") == 1
    assert "Kernel and C library: 5.4" in text
    assert text.count("<strong>changed</strong>") == 1
    assert "last time 6.1" in text
    assert text.index(">node-3<") < text.index(">node-0<")


def test_a_host_that_a_check_holds_waits_for_no_decision_to_isolate_it(operator: Client):
    played(started(), odd("node-3", "memory", "reading memory_gbps 3\ndone\n"))
    incident = Incident.objects.get()
    for address in ("/", f"/incidents/{incident.pk}"):
        page = operator.get(address, follow=True).content.decode()
        assert ("held by the check" in page, "needs a decision" in page) == (True, False)


def test_a_host_that_no_runner_asked_for_says_what_to_do(operator: Client):
    four_hosts("north")
    run = check_runs.start(actor=OPERATOR, suite="cpu", names=["a"], cluster="north")
    told = "No runner of this host has asked yet: start tools/check-runner there."
    assert told in operator.get(f"/checks/{run.pk}").content.decode()


def test_a_running_check_shows_its_progress(operator: Client):
    run = started()
    assert (
        f"0 of {run.tasks.count()} commands" in operator.get(f"/checks/{run.pk}").content.decode()
    )


def test_the_export_has_a_line_for_every_item_of_every_host(operator: Client):
    run = played(started())
    lines = operator.get(f"/checks/{run.pk}.csv").content.decode().splitlines()
    assert len(lines) == 1 + len(NAMES) * len(run.suite.suite.items)


def test_the_export_as_json_holds_the_same(operator: Client):
    run = played(started())
    found = operator.get(f"/checks/{run.pk}.json").json()
    assert [one["host"] for one in found["hosts"]] == NAMES
    assert {len(one["items"]) for one in found["hosts"]} == {len(run.suite.suite.items)}


def test_the_incident_of_a_held_host_leads_to_the_suite_that_judged_it(operator: Client):
    run = played(started(), odd("node-3", "kernel", "reading kernel 5.4\ndone\n"))
    incident = run.hosts.get(decision="hold").incident
    assert incident is not None
    page = operator.get(f"/incidents/{incident.pk}").content.decode()
    assert "/taxonomy/suite-cpu-1" in page
    answer = operator.get("/taxonomy/suite-cpu-1")
    assert answer.headers["Location"] == "/checks/suites/cpu?version=1"


def test_a_viewer_reads_and_starts_nothing(client: Client):
    client.force_login(UserFactory(role=Role.VIEWER))
    assert client.get("/checks").status_code == 200
    assert client.post("/checks/start", {"hosts": "a", "suite": "cpu"}).status_code == 403


def test_an_offline_diagnosis_is_played_by_hand_to_its_verdict(operator: Client):
    cluster = ClusterFactory(name="north")
    for tor in range(2):
        for host in range(4):
            HostFactory(cluster=cluster, name=f"n-{tor}-{host}", pod="p", tor=f"tor-{tor}")
    names = " ".join(Host.objects.values_list("name", flat=True))
    operator.post("/offline/start", {"hosts": names, "cluster": "north", **CONFIRMED})
    made = OfflineDiagnosis.objects.get()
    for _ in range(20):
        made.refresh_from_db()
        if made.is_over:
            break
        told = {
            f"group-{place}": "failed" if "n-1-2" in group else "passed"
            for place, group in enumerate(made.rounds[-1]["groups"])
        }
        operator.post(f"/offline/{made.pk}/answer", {"round": len(made.rounds), **told})
    text = operator.get(f"/offline/{made.pk}").content.decode()
    assert "n-1-2: named after" in text
    assert made.answer["suspects"][0]["role"] == "culprit"


def test_a_round_is_answered_once(operator: Client):
    four_hosts("north")
    operator.post("/offline/start", {"hosts": "a b c d", "cluster": "north", **CONFIRMED})
    made = OfflineDiagnosis.objects.get()
    told = {"round": 1, **{f"group-{place}": "passed" for place in range(8)}}
    operator.post(f"/offline/{made.pk}/answer", told)
    made.refresh_from_db()
    before = len(made.rounds)
    operator.post(f"/offline/{made.pk}/answer", told)
    made.refresh_from_db()
    assert len(made.rounds) == before


def test_results_that_are_missing_are_asked_for(operator: Client):
    four_hosts("north")
    operator.post("/offline/start", {"hosts": "a b c d", "cluster": "north", **CONFIRMED})
    made = OfflineDiagnosis.objects.get()
    answer = operator.post(f"/offline/{made.pk}/answer", {"round": 1}, follow=True)
    assert "Say of every group" in answer.content.decode()


def test_an_offline_diagnosis_that_an_incident_asked_for_answers_there(operator: Client):
    names = [f"n-{number}" for number in range(4)]
    cluster = ClusterFactory(name="north")
    incident = IncidentFactory(cluster=cluster)
    incident.hosts.set([HostFactory(cluster=cluster, name=name) for name in names])
    page = operator.get(f"/offline?incident={incident.pk}").content.decode()
    assert " ".join(names) in page
    given = {"hosts": " ".join(names), "incident": incident.pk}
    asked = operator.post("/offline/start", given)
    assert asked.status_code == 409
    assert "Not out of service: n-0, n-1, n-2, n-3." in asked.content.decode()
    assert f'name="incident" value="{incident.pk}"' in asked.content.decode()
    assert not OfflineDiagnosis.objects.exists()
    operator.post("/offline/start", {**given, **CONFIRMED})
    made = OfflineDiagnosis.objects.get()
    for _ in range(20):
        made.refresh_from_db()
        if made.is_over:
            break
        groups = enumerate(made.rounds[-1]["groups"])
        told = {f"group-{at}": "failed" if "n-2" in group else "passed" for at, group in groups}
        operator.post(f"/offline/{made.pk}/answer", {"round": len(made.rounds), **told})
    assert incident.diagnoses.get().suspects.get().target_host == "n-2"
    assert operator.get(f"/incidents/{incident.pk}").status_code == 200
