"""Jobs and hosts."""

import pytest
from django.test import Client

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


def test_a_placement_is_shown_host_by_host(responder: Client):
    attempt = AttemptFactory()
    host = HostFactory(name="node-007")
    for rank in (3, 4):
        RankPlacementFactory(attempt=attempt, host=host, rank=rank)
    page = responder.get(f"/attempts/{attempt.pk}/placement").content.decode()
    assert "node-007" in page
    assert "ranks 3–4" in page


def test_hosts_are_found_by_name_and_state(responder: Client):
    wanted = HostFactory(name="node-017", state="isolated")
    HostFactory(name="node-018", state="isolated")
    HostFactory(name="node-017b")
    page = responder.get("/hosts", {"name": "Node-017", "state": "isolated"}).context["page"]
    assert list(page.rows) == [wanted]


def test_a_host_shows_where_the_newest_answers_blame_it(responder: Client):
    host = HostFactory(name="node-017")
    incident = IncidentFactory(cluster=host.cluster)
    old = DiagnosisFactory(incident=incident, done=True, number=1)
    new = DiagnosisFactory(incident=incident, done=True, number=2)
    SuspectFactory(diagnosis=old, target_host="node-017", fault="dropped-since")
    SuspectFactory(diagnosis=new, target_host="NODE-017", fault="xid-79")
    SuspectFactory(diagnosis=new, target_host="node-017", role="victim", score=0, fault="victim")
    SuspectFactory(diagnosis=new, target_host="node-017", fault="weaker", score=0.1)
    SuspectFactory(diagnosis=new, target_host="node-017", target_kind="user-code", fault="code")
    accusations = responder.get(f"/hosts/{host.pk}").context["accusations"]
    assert [one.fault for one in accusations] == ["xid-79"]


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
