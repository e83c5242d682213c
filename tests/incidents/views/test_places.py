"""Jobs and hosts."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from incidents.models import Host
from tests.factories import (
    AttemptFactory,
    DiagnosisFactory,
    HostFactory,
    IncidentFactory,
    JobFactory,
    RankPlacementFactory,
    SuspectFactory,
)


@pytest.mark.parametrize(("address", "words"), [("/jobs", "job is registered"), ("/hosts", "host")])
def test_an_empty_list_says_how_it_fills(address: str, words: str, responder: Client):
    page = responder.get(address).content.decode()
    assert "yet" in page
    assert words in page


@pytest.mark.parametrize(("address", "made"), [("/jobs", JobFactory), ("/hosts", HostFactory)])
def test_a_long_list_tells_how_many_there_are_and_leads_there_and_back(
    address: str, made, responder: Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("incidents.views.places._PAGE", 2)
    made.create_batch(5)
    first = responder.get(address)
    second = responder.get(f"{address}{first.context['next_query']}")
    third = responder.get(f"{address}{second.context['next_query']}")
    back = responder.get(f"{address}{third.context['previous_query']}")

    assert "<h1>5 " in first.content.decode()
    assert "3–4 of 5" in second.content.decode()
    assert "Next page" not in third.content.decode()
    assert back.context["page"].rows == second.context["page"].rows


def test_a_single_host_is_not_counted_in_the_plural(responder: Client):
    HostFactory()
    assert "<h1>1 host</h1>" in responder.get("/hosts").content.decode()


@pytest.mark.parametrize("words", ["llama", "4711", "research"])
def test_a_job_is_found_by_name_id_and_owner(words: str, responder: Client):
    wanted = JobFactory(name="llama", external_id="4711", owner="research")
    JobFactory(name="other", external_id="1")
    page = responder.get("/jobs", {"name": words}).context["page"]
    assert list(page.rows) == [wanted]


def test_a_job_shows_attempts_and_incidents(responder: Client):
    attempt = AttemptFactory(number=4)
    RankPlacementFactory(attempt=attempt)
    IncidentFactory(title="It hangs", job=attempt.job, attempt=attempt)
    page = responder.get(f"/jobs/{attempt.job.pk}").content.decode()
    for words in ("Attempt 4", "1 rank on 1 host", "It hangs"):
        assert words in page


def test_the_list_of_jobs_names_what_stands_on_a_running_attempt(responder: Client):
    attempt = AttemptFactory()
    IncidentFactory(job=attempt.job, attempt=attempt, kind="degradation")
    hang = IncidentFactory(job=attempt.job, attempt=attempt, kind="hang")
    [row] = responder.get("/jobs").context["rows"]
    assert row == (attempt.job, hang)


def test_a_jobs_page_holds_its_watch_from_the_start(responder: Client):
    page = responder.get(f"/jobs/{JobFactory().pk}").content.decode()
    assert "No attempt of this job is under watch" in page
    assert 'hx-trigger="every 30s"' in page


def test_a_placement_is_shown_host_by_host(responder: Client):
    attempt = AttemptFactory()
    host = HostFactory(name="node-007")
    for rank in (3, 4):
        RankPlacementFactory(attempt=attempt, host=host, rank=rank)
    page = responder.get(f"/attempts/{attempt.pk}/placement").content.decode()
    assert "node-007" in page
    assert "ranks 3–4" in page


def test_a_state_that_does_not_exist_is_left_out_and_told_of(responder: Client):
    HostFactory(name="node-017")
    page = responder.get("/hosts?state=bogus").content.decode()
    assert "there is no state “bogus”" in page
    assert "node-017" in page


def test_hosts_are_found_by_name_and_state(responder: Client):
    wanted = HostFactory(name="node-017", state="isolated")
    HostFactory(name="node-018", state="isolated")
    HostFactory(name="node-017b")
    page = responder.get("/hosts", {"name": "Node-017", "state": "isolated"}).context["page"]
    assert list(page.rows) == [wanted]


def test_a_host_shows_where_the_newest_answers_blame_it(responder: Client):
    host = HostFactory(name="node-017")
    incident = IncidentFactory(cluster=host.cluster)
    incident.hosts.add(host)
    old = DiagnosisFactory(incident=incident, done=True, number=1)
    new = DiagnosisFactory(incident=incident, done=True, number=2)
    SuspectFactory(diagnosis=old, target_host="node-017", fault="dropped-since")
    SuspectFactory(diagnosis=new, target_host="NODE-017", fault="xid-79")
    SuspectFactory(diagnosis=new, target_host="node-017", role="victim", score=0, fault="victim")
    SuspectFactory(diagnosis=new, target_host="node-017", fault="weaker", score=0.1)
    SuspectFactory(diagnosis=new, target_host="node-017", target_kind="user-code", fault="code")
    accusations = responder.get(f"/hosts/{host.pk}").context["accusations"]
    assert [one.fault for one in accusations] == ["xid-79"]


@pytest.fixture
def busy_host() -> Host:
    host = HostFactory()
    for incident in IncidentFactory.create_batch(27, cluster=host.cluster):
        incident.hosts.add(host)
    return host


def test_a_busy_host_shows_its_newest_incidents_and_the_way_to_more(
    responder: Client, busy_host: Host
):
    page = responder.get(f"/hosts/{busy_host.pk}")
    assert len(page.context["incidents"]) == 25
    assert '<a href="?whole">' in page.content.decode()


def test_incidents_of_a_job_and_host_stand_in_the_order_of_their_beginnings(responder: Client):
    host, job, now = HostFactory(), JobFactory(), timezone.now()
    early, late = [
        IncidentFactory(cluster=host.cluster, job=job, onset_at=now - timedelta(hours=hours))
        for hours in (3, 1)
    ]
    middle = IncidentFactory(cluster=host.cluster, job=job, opened_at=now - timedelta(hours=2))
    for incident in (early, late, middle):
        incident.hosts.add(host)
    for address in (f"/hosts/{host.pk}", f"/jobs/{job.pk}"):
        assert list(responder.get(address).context["incidents"]) == [late, middle, early]


def test_the_whole_of_a_busy_host_is_shown_on_demand(responder: Client, busy_host: Host):
    page = responder.get(f"/hosts/{busy_host.pk}?whole")
    assert len(page.context["incidents"]) == 27
    assert '<a href="?whole">' not in page.content.decode()


@pytest.mark.parametrize("address", ["/jobs/1", "/hosts/1", "/attempts/1/placement"])
def test_what_is_not_there_is_not_found(address: str, responder: Client):
    assert responder.get(address).status_code == 404


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"position": 2}, True),
        ({"position": 1, "role": "possible", "score": 0.6}, True),
        ({"position": 1, "role": "possible", "score": 0.08}, False),
        ({"position": 2, "role": "possible", "score": 0.3}, False),
    ],
    ids=str,
)
def test_a_mere_possibility_is_not_named_as_the_cause(given, named: bool, responder: Client):
    host = HostFactory(name="node-017")
    run = DiagnosisFactory(incident__cluster=host.cluster, done=True)
    run.incident.hosts.add(host)
    SuspectFactory(diagnosis=run, target_host="node-017", **given)
    assert bool(responder.get(f"/hosts/{host.pk}").context["accusations"]) is named


def noting(client: Client, host: Host, state: str, *, seen: str = "suspect"):
    return client.post(
        f"/hosts/{host.pk}/state", {"state": state, "seen": seen, "note": "RMA 17"}, follow=True
    )


def test_an_operator_notes_that_a_host_is_isolated(operator: Client):
    host = HostFactory(state="suspect")
    page = noting(operator, host, "isolated").content.decode()
    host.refresh_from_db()
    assert host.state == "isolated"
    assert "suspect → isolated: RMA 17" in page


def test_a_state_that_someone_else_noted_meanwhile_is_not_overwritten(operator: Client):
    host = HostFactory(state="in-repair")
    page = noting(operator, host, "isolated").content.decode()
    host.refresh_from_db()
    assert host.state == "in-repair"
    assert "is in repair by now" in page


def test_a_responder_is_told_who_notes_it(responder: Client):
    host = HostFactory(state="suspect")
    assert noting(responder, host, "isolated").status_code == 403
    page = responder.get(f"/hosts/{host.pk}").content.decode()
    assert "An operator notes here" in page
    assert "<select" not in page


def test_a_jobs_page_tells_restarts_and_what_was_lost(viewer: Client) -> None:
    job = JobFactory()
    first = AttemptFactory(job=job, number=1)
    AttemptFactory(job=job, number=2)
    began = timezone.now() - timedelta(hours=2)
    IncidentFactory(
        job=job, attempt=first, gpu_count=8, onset_at=began, mitigated_at=began + timedelta(hours=1)
    )

    page = viewer.get(reverse("incidents:job", args=[job.pk])).content.decode()

    assert "<dt>Restarts</dt>\n          <dd>1</dd>" in page
    assert "8.0 GPU-hours to 1 incident" in page


def test_a_job_tells_which_hosts_its_newest_attempt_leaves_out(viewer: Client) -> None:
    job = JobFactory()
    first, second = (AttemptFactory(job=job, number=number) for number in (1, 2))
    good, bad = HostFactory(name="good"), HostFactory(name="bad")
    RankPlacementFactory(attempt=first, host=good)
    RankPlacementFactory(attempt=first, host=bad)
    RankPlacementFactory(attempt=second, host=good)

    answer = viewer.get(reverse("incidents:job", args=[job.pk]))

    assert answer.context["course"].left_out == [bad]
