"""Thin tasks of the records: they take keys, and are safe to run twice."""

import uuid

from celery import shared_task
from django.utils import timezone

from incidents import executor
from incidents.delivery import ticket_asking, worker
from incidents.services import executions, inbox


@shared_task(name="incidents.tasks.deliver")
def deliver(subscription_id: int) -> None:
    """Sends what waits for one endpoint, unless another worker does; goes on in a new task."""
    if worker.take_turn(subscription_id, owner=uuid.uuid4().hex):
        deliver.delay(subscription_id)


@shared_task(name="incidents.tasks.deliver_due")
def deliver_due() -> None:
    """Calls a worker for every endpoint whose next try is due."""
    for pk in worker.endpoints_due(timezone.now()):
        deliver.delay(pk)


@shared_task(name="incidents.tasks.take_in")
def take_in(inbox_id: int) -> None:
    """Takes in what waits in one inbox, unless another worker does."""
    inbox.take_in(inbox_id, owner=uuid.uuid4().hex)


@shared_task(name="incidents.tasks.take_in_due")
def take_in_due() -> None:
    """Calls a worker for every inbox in which something waits."""
    for pk in inbox.inboxes_due():
        take_in.delay(pk)


@shared_task(name="incidents.tasks.ask_ticket_system")
def ask_ticket_system(connector_id: int) -> None:
    """Takes in how the tickets of one system stand, unless it was asked just now."""
    ticket_asking.ask(connector_id)


@shared_task(name="incidents.tasks.ask_ticket_systems")
def ask_ticket_systems() -> None:
    """Calls a worker for every ticket system that is due to be asked."""
    for pk in ticket_asking.connectors_due(timezone.now()):
        ask_ticket_system.delay(pk)


@shared_task(name="incidents.tasks.execute")
def execute(execution_id: int) -> None:
    """Runs a command that someone asked for, unless it was run or is void."""
    executor.execute(execution_id)


@shared_task(name="incidents.tasks.sweep_executions")
def sweep_executions() -> None:
    """Ends what nobody took or ended in time; sends what still waits again."""
    executions.void_and_lost()
    for pk in executions.waiting():
        execute.delay(pk)
