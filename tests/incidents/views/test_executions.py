"""The executor and ticket systems on the incident's page."""

import pytest
from django.test import Client
from django.urls import reverse

from incidents.choices import Action, DecisionKind, ExecutionState, Role
from incidents.models import Execution, Incident, Job, Recommendation, TicketLink
from incidents.services import connectors
from incidents.services.decisions import decide
from tests.factories import (
    DiagnosisFactory,
    HostFactory,
    IncidentFactory,
    JobFactory,
    RecommendationFactory,
    UserFactory,
    actor,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def accepted(settings) -> Recommendation:
    """An accepted isolation, where Slurm's executor is on."""
    settings.EXECUTORS = {"slurm": ["scontrol", "nodename={host}"]}
    job = JobFactory()
    HostFactory(cluster=job.cluster, name="node-017", pod="1")
    incident = IncidentFactory(job=job, cluster=job.cluster)
    made = RecommendationFactory(
        diagnosis=DiagnosisFactory(incident=incident, done=True),
        action=Action.ISOLATE_HOST,
        target_host="node-017",
    )
    decide(actor=actor(), recommendation=made, kind=DecisionKind.ACCEPT)
    return made


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(UserFactory(role=Role.OPERATOR))
    return client


def page(client: Client, incident: Incident) -> str:
    return client.get(f"/incidents/{incident.pk}").content.decode()


def test_the_command_is_shown_before_it_can_be_run(operator: Client, accepted: Recommendation):
    incident = accepted.diagnosis.incident
    assert "Show what Aegis would run" in page(operator, incident)
    place = {"pk": incident.pk, "recommendation": accepted.pk}
    operator.post(reverse("incidents:plan-execution", kwargs=place))
    shown = page(operator, incident)
    assert "scontrol nodename=node-017" in shown
    assert "Run it now, once" in shown


def test_what_is_asked_for_waits_for_a_worker(operator: Client, accepted: Recommendation):
    incident = accepted.diagnosis.incident
    place = {"pk": incident.pk, "recommendation": accepted.pk}
    operator.post(reverse("incidents:plan-execution", kwargs=place))
    execution = Execution.objects.get()
    place = {"pk": incident.pk, "execution": execution.pk}
    operator.post(reverse("incidents:run-execution", kwargs=place))
    execution.refresh_from_db()
    assert execution.state == ExecutionState.WAITING
    assert "Waits for a worker" in page(operator, incident)


def test_who_may_not_run_it_is_not_offered_to(client: Client, accepted: Recommendation):
    client.force_login(UserFactory(role=Role.RESPONDER))
    assert "Show what Aegis would run" not in page(client, accepted.diagnosis.incident)


def test_where_it_is_off_nothing_is_offered(operator: Client, accepted: Recommendation, settings):
    settings.EXECUTORS = {}
    shown = page(operator, accepted.diagnosis.incident)
    assert "Show what Aegis would run" not in shown
    assert "Aegis recommends and runs nothing" in shown


def test_where_only_another_schedulers_is_on_nothing_is_offered(
    operator: Client, accepted: Recommendation
):
    Job.objects.update(source="demo")
    shown = page(operator, accepted.diagnosis.incident)
    assert "Show what Aegis would run" not in shown
    assert "Aegis recommends and runs nothing" not in shown
    assert "The executor of this job’s scheduler (demo) is not switched on: someone has" in shown


def test_a_ticket_is_opened_from_the_page(operator: Client):
    fields = {"name": "ops-jira", "url": "https://a.example", "secret": "s"}
    made = connectors.add_connector(
        actor=actor(), kind="jira", fields={**fields, "options": {"project": "OPS"}}
    )
    incident = IncidentFactory()
    assert "Open one in ops-jira" in page(operator, incident)
    address = reverse("incidents:open-ticket", kwargs={"pk": incident.pk})
    operator.post(address, {"connector": made.pk})
    assert TicketLink.objects.get().connector == made
    shown = page(operator, incident)
    assert "being opened" in shown
    assert "Open one in ops-jira" not in shown
