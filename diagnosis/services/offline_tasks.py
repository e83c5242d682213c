"""The runners' part in an offline diagnosis: a round's groups as tasks, and what they answered.

The test of a group is an item of a suite. An item on pairs runs around the group, host by host; any
other runs once, on the group's first host, with all of them in `{hosts}`.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import pairwise

from django.conf import settings
from django.utils import timezone

from diagnosis.checks.group_test import GroupResult, group_results
from diagnosis.checks.output import Ending, Output
from diagnosis.checks.suite import Item, Scope
from diagnosis.models import CheckSuite, CheckTask, OfflineDiagnosis
from diagnosis.services import check_suites, check_tasks
from incidents.exceptions import InvalidInput
from incidents.services import topology


def group_tests() -> list[tuple[CheckSuite, Item]]:
    """The items by which a group can be tested: those that span several hosts."""
    return [
        (suite, item)
        for suite in check_suites.all_newest()
        for item in suite.suite.items
        if item.scope != Scope.HOST
    ]


def group_test(suite: str, item: str) -> tuple[CheckSuite, Item]:
    """One of them. Raises `InvalidInput`."""
    version = check_suites.newest(suite)
    for one in version.suite.items:
        if one.code == item and one.scope != Scope.HOST:
            return version, one
    raise InvalidInput(
        f"Suite '{suite}' has no item '{item}' that spans several hosts.", field="item"
    )


def open_round(diagnosis: OfflineDiagnosis) -> None:
    """The tasks of the open round, where runners run it."""
    item = _item_of(diagnosis)
    if item is None or diagnosis.is_over:
        return
    limit = max(3 * item.time_limit_s, settings.CHECK_DEADLINE_SECONDS)
    diagnosis.deadline_at = timezone.now() + timedelta(seconds=limit)
    diagnosis.save(update_fields=["deadline_at"])
    groups = diagnosis.rounds[-1]["groups"]
    names = {name for group in groups for name in group}
    hosts = {host.name: host for host in topology.hosts_named(diagnosis.cluster, names).values()}
    pairs = 0
    for place, group in enumerate(groups):
        task = CheckTask(
            offline=diagnosis,
            number=len(diagnosis.rounds),
            group=place,
            item=item.code,
            members=group,
        )
        if item.scope != Scope.PAIR:
            task.host = hosts[group[0]]
            task.save()
            continue
        for one, other in _around(group):
            number = diagnosis.pk * 307 + pairs
            check_tasks.open_pair(task, number, hosts[one], hosts[other])
            pairs += 1


def results(diagnosis: OfflineDiagnosis) -> list[GroupResult] | None:
    """What the open round's groups answered; None while runners still work on it."""
    item = _item_of(diagnosis)
    tasks = diagnosis.tasks.filter(number=len(diagnosis.rounds))
    if item is None or diagnosis.deadline_at is None:
        return None
    check_tasks.give_up_lost(tasks, diagnosis.deadline_at)
    found: list[list[Output]] = [[] for _ in diagnosis.rounds[-1]["groups"]]
    for task in tasks.order_by("id"):
        if not task.ending:
            return None
        output = Output(task.stdout, task.stderr, task.exit_code, Ending(task.ending))
        found[task.group].append(output)
    earlier = [
        value
        for row in diagnosis.rounds[:-1]
        for value, passed in zip(row.get("values") or [], row["results"], strict=False)
        if passed and value is not None
    ]
    return group_results(item, found, earlier)


def _item_of(diagnosis: OfflineDiagnosis) -> Item | None:
    return diagnosis.suite.suite.item(diagnosis.item) if diagnosis.suite else None


def _around(group: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Neighbours, every other pair first, so that no host waits for more than one before it."""
    neighbours = list(pairwise(group))
    yield from neighbours[::2]
    yield from neighbours[1::2]
    if len(group) > 2:
        yield group[-1], group[0]
