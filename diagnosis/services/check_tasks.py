"""The runners' work: tasks opened for items, claimed by runners, ended with their output."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from diagnosis.checks.output import Ending
from diagnosis.checks.suite import Item, Scope, Suite
from diagnosis.core.topology import HostWiring, Topology
from diagnosis.models import CheckRun, CheckRunner, CheckTask, RunState, TaskState
from diagnosis.offline.designs import by_block, covering
from diagnosis.offline.layout import Ints, Layout
from incidents.exceptions import InvalidInput, TransitionRefused
from incidents.models import Host
from incidents.roles import Actor, Capability
from incidents.services import topology

#: What a runner has beyond an item's limit to start it and to send its output.
SLACK = timedelta(seconds=30)
#: More output than this (characters) is cut; every value stands near the end, so that is kept.
MOST_OUTPUT = 200_000
FIRST_PORT, PORTS = 20_000, 10_000
#: A task whose runner was lost so often has no result.
LOSSES = 3


@transaction.atomic
def register(
    *, actor: Actor, name: str, cluster: str = "", address: str = "", version: str = ""
) -> CheckRunner:
    """A runner says that it is there; what it held when it stopped is given back."""
    actor.require(Capability.REGISTER_JOBS)
    place = topology.cluster_of(cluster, [name])
    (host,) = topology.hosts_named(place, [name]).values()
    runner, _ = CheckRunner.objects.update_or_create(
        host=host,
        defaults={"address": address or name, "version": version, "seen_at": timezone.now()},
    )
    for task in CheckTask.objects.filter(host=host, state=TaskState.CLAIMED):
        give_back(task)
    return runner


def claim(*, actor: Actor, runner: CheckRunner) -> CheckTask | None:
    """The next task of the runner's host, now its own; None where there is nothing to do.

    One at a time a host, in order: items must not disturb each other.
    """
    actor.require(Capability.REGISTER_JOBS)
    now = timezone.now()
    CheckRunner.objects.filter(pk=runner.pk).update(seen_at=now)
    goes_on = Q(run__state=RunState.RUNNING) | Q(offline__state=RunState.RUNNING)
    mine = CheckTask.objects.filter(goes_on, host=runner.host)
    if mine.filter(state=TaskState.CLAIMED).exists():
        return None
    waiting = mine.filter(state=TaskState.WAITING)
    task = waiting.select_related("run__suite", "offline__suite", "peer").first()
    if task is None:
        return None
    until = now + _limit(task) + SLACK
    taken = CheckTask.objects.filter(pk=task.pk, state=TaskState.WAITING).update(
        state=TaskState.CLAIMED, lease_expires_at=until
    )
    return task if taken else None


def _limit(task: CheckTask) -> timedelta:
    return timedelta(seconds=task.definition.time_limit_s)


@transaction.atomic
def take_output(
    *,
    actor: Actor,
    task: CheckTask,
    stdout: str = "",
    stderr: str = "",
    ending: str = "",
    exit_code: int | None = None,
) -> CheckTask:
    """Adds output to a task, and ends it where `ending` says how. Raises `TransitionRefused` for a
    task that is no longer the runner's.
    """
    actor.require(Capability.REGISTER_JOBS)
    task = CheckTask.objects.select_for_update().get(pk=task.pk)
    if task.state != TaskState.CLAIMED:
        raise TransitionRefused(f"Task {task.pk} is {task.get_state_display().lower()}.")
    if ending and ending not in set(Ending):
        raise InvalidInput(f"'{ending}' is no way to end.", field="ending")
    task.stdout = (task.stdout + _clean(stdout))[-MOST_OUTPUT:]
    task.stderr = (task.stderr + _clean(stderr))[-MOST_OUTPUT:]
    task.lease_expires_at = timezone.now() + _limit(task) + SLACK
    if ending:
        task.state, task.ending, task.exit_code = TaskState.DONE, ending, exit_code
        task.finished_at, task.lease_expires_at = timezone.now(), None
    task.save()
    return task


def _clean(text: str) -> str:
    """PostgreSQL keeps no NUL."""
    return text.replace("\x00", "�")


def give_back(task: CheckTask) -> None:
    """A claimed task waits again, without what its runner had sent."""
    CheckTask.objects.filter(pk=task.pk, state=TaskState.CLAIMED).update(
        state=TaskState.WAITING, lost=task.lost + 1, lease_expires_at=None, stdout="", stderr=""
    )


def give_up_lost(tasks: QuerySet[CheckTask], deadline: datetime) -> None:
    """Gives back what lost runners held, and ends what nobody takes in time."""
    now = timezone.now()
    for task in tasks.filter(state=TaskState.CLAIMED, lease_expires_at__lt=now):
        give_back(task)
    hopeless = Q(lost__gte=LOSSES)
    if now > deadline:
        hopeless |= Q(state=TaskState.WAITING)
    tasks.filter(hopeless).exclude(state=TaskState.DONE).update(
        state=TaskState.DONE, ending=Ending.LOST, finished_at=now
    )


def end_all(tasks: QuerySet[CheckTask]) -> None:
    """Nobody needs these any more."""
    tasks.exclude(state=TaskState.DONE).update(
        state=TaskState.DONE, ending=Ending.LOST, finished_at=timezone.now()
    )


def suite_for(run: CheckRun) -> Suite:
    """The run's suite as far as it applies: a host by itself has nobody to be tested with."""
    suite = run.suite.suite
    if run.hosts.count() > 1:
        return suite
    alone = tuple(item for item in suite.items if item.scope == Scope.HOST)
    return replace(suite, items=alone)


def open_tasks(run: CheckRun, items: Iterable[Item]) -> None:
    """The tasks of a phase, in the order in which each host takes them."""
    layout, hosts = _layout(run)
    for item in items:
        for number in range(item.rounds if item.scope == Scope.PAIR else 1):
            _open(run, item, _groups(layout, item, np.arange(len(layout)), [run.pk, number]), hosts)


def open_again(run: CheckRun, item: Item, names: Sequence[str]) -> int:
    """One more attempt of an item on these hosts; pairs get partners from the whole run.

    Gives the number of groups.
    """
    layout, hosts = _layout(run)
    wanted = set(names)
    number = run.tasks.filter(item=item.code).count()
    groups = [
        group
        for group in _groups(layout, item, np.arange(len(layout)), [run.pk, number])
        if wanted & set(group)
    ]
    _open(run, item, groups, hosts)
    return len(groups)


def _layout(run: CheckRun) -> tuple[Layout, dict[str, Host]]:
    hosts = {one.host.name: one.host for one in run.hosts.select_related("host")}
    wiring = [
        HostWiring(host.name, host.pod or None, (host.tor,) if host.tor else ())
        for host in hosts.values()
    ]
    return Layout.of(Topology(tuple(wiring))), hosts


def _groups(layout: Layout, item: Item, everyone: Ints, seed: Sequence[int]) -> Iterator[list[str]]:
    """The groups of hosts that an item runs on, free of contention."""
    if item.scope == Scope.HOST:
        groups = [everyone[at : at + 1] for at in range(len(everyone))]
    elif item.scope == Scope.TOR:
        groups = by_block(layout, everyone)
    elif item.scope == Scope.ALL:
        groups = [everyone]
    else:
        groups = covering(layout, everyone, np.random.default_rng(list(seed)))
        groups += _left_over(everyone, groups)
    for group in groups:
        yield [layout.names[host] for host in group.tolist()]


def _left_over(everyone: Ints, groups: Sequence[Ints]) -> list[Ints]:
    """Hosts that no uplink was free for, each with another host: they run after the others."""
    taken = {host for group in groups for host in group.tolist()}
    left = [host for host in everyone.tolist() if host not in taken]
    others = [host for host in everyone.tolist() if host in taken] or left[:1]
    return [np.array([others[0], host]) for host in left if host != others[0]]


def _open(
    run: CheckRun, item: Item, groups: Iterable[Sequence[str]], hosts: dict[str, Host]
) -> None:
    for members in groups:
        if item.scope != Scope.PAIR:
            CheckTask.objects.create(
                run=run, host=hosts[members[0]], item=item.code, members=list(members)
            )
            continue
        for one, other in pairwise(members):
            _open_pair(run, item, hosts[one], hosts[other])


def _open_pair(run: CheckRun, item: Item, server: Host, client: Host) -> None:
    open_pair(CheckTask(run=run, item=item.code), run.pk * 101 + run.tasks.count(), server, client)


def open_pair(task: CheckTask, number: int, server: Host, client: Host) -> None:
    """Two tasks like this one that run at the same time, on a port that no other pair uses."""
    for host, peer, role in ((server, client, "server"), (client, server, "client")):
        CheckTask.objects.create(
            run=task.run,
            offline=task.offline,
            number=task.number,
            group=task.group,
            item=task.item,
            host=host,
            peer=peer,
            members=task.members or [host.name],
            role=role,
            port=FIRST_PORT + number % PORTS,
        )
