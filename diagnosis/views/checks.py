"""Delivery checks: the list with the form that starts one, and a check with its verdicts."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from diagnosis.checks.output import Ending
from diagnosis.models import CheckedHost, CheckRun, RunState, TaskState
from diagnosis.services import check_runs, check_suites
from incidents import selectors
from incidents.exceptions import HostsInService, NotAllowed, RecordsError
from incidents.roles import Capability
from incidents.views.answers import status_of
from incidents.views.paging import page_of
from incidents.views.requests import PageRequest, actor_of

_PAGE = 50
_LOOKS = {"deliver": "good", "hold": "bad", "repeat": "warn"}


@dataclass(frozen=True, slots=True)
class HostRow:
    """A host of a check beside what the check before said of it."""

    checked: CheckedHost
    look: str
    earlier: str
    done: int
    tasks: int
    items: list[tuple[dict[str, Any], str]]

    @property
    def is_new(self) -> bool:
        return bool(self.earlier) and self.earlier != self.checked.decision


def _runs() -> QuerySet[CheckRun]:
    """Checks with `is_partial`: whether some of the hosts were not delivered."""
    others = CheckedHost.objects.filter(run=OuterRef("pk")).exclude(decision="deliver")
    runs = CheckRun.objects.select_related("suite", "cluster")
    return runs.annotate(is_partial=Exists(others))


@require_safe
def checks(request: PageRequest) -> HttpResponse:
    return _list(request, request.GET)


def _list(request: PageRequest, given: QueryDict, *, status: int = 200) -> HttpResponse:
    """The list, with the form as it was given."""
    page = page_of(_runs().order_by("-id"), after=request.GET.get("after", ""), size=_PAGE)
    context = {
        "page": page,
        "suites": check_suites.all_newest(),
        "clusters": selectors.clusters(),
        "given": given,
        "may_start": actor_of(request).may(Capability.OPERATE),
    }
    return render(request, "diagnosis/checks.html", context, status=status)


@require_POST
def start(request: PageRequest) -> HttpResponse:
    names = request.POST.get("hosts", "").replace(",", " ").split()
    try:
        run = check_runs.start(
            actor=actor_of(request),
            suite=request.POST.get("suite", ""),
            names=names,
            cluster=request.POST.get("cluster", ""),
            confirm=request.POST.get("confirm") == "yes",
        )
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    except HostsInService as error:
        given = {name: request.POST.get(name, "") for name in ("hosts", "suite", "cluster")}
        return _asked(request, error, given)
    except RecordsError as error:
        messages.error(request, str(error))
        return _list(request, request.POST, status=status_of(error))
    return redirect("diagnosis:check", pk=run.pk)


def _asked(request: PageRequest, error: HostsInService, given: Mapping[str, str]) -> HttpResponse:
    """The second question before a check runs on hosts that a job uses."""
    context = {
        "title": "Check hosts that run a job?",
        "question": str(error),
        "given": given,
        "action": request.path,
        "back": reverse("diagnosis:checks"),
        "go_on": "Check all the same",
    }
    return render(request, "diagnosis/confirm_hosts.html", context, status=409)


@require_safe
def check(request: PageRequest, pk: int) -> HttpResponse:
    run = get_object_or_404(_runs(), pk=pk)
    rows = list(_rows(run))
    counts = {word: sum(row.checked.decision == word for row in rows) for word in _LOOKS}
    context = {
        "run": run,
        "rows": rows,
        "counts": counts,
        "look": "warn" if 0 < counts["deliver"] < len(rows) else _LOOKS.get(run.decision, ""),
        "done": sum(row.done for row in rows),
        "tasks": sum(row.tasks for row in rows),
        "may_start": actor_of(request).may(Capability.OPERATE),
    }
    return render(request, "diagnosis/check.html", context)


def _rows(run: CheckRun) -> Iterator[HostRow]:
    before = _earlier(run)
    tasks = Counter(run.tasks.values_list("host_id"))
    ran = run.tasks.filter(state=TaskState.DONE)
    if run.state == RunState.CANCELLED:
        ran = ran.exclude(ending=Ending.LOST)
    done = Counter(ran.values_list("host_id"))
    hosts = run.hosts.select_related("host__runner", "incident")
    for one in sorted(hosts, key=_trouble_first):
        last = before.get(one.host_id)
        values = {reason["item"]: _shown(reason) for reason in last.reasons} if last else {}
        yield HostRow(
            one,
            _LOOKS.get(one.decision, ""),
            last.decision if last else "",
            done[one.host_id,],
            tasks[one.host_id,],
            [(reason, values.get(reason["item"], "")) for reason in one.reasons],
        )


def _trouble_first(one: CheckedHost) -> int:
    order = ["hold", "repeat", "", "deliver"]
    return order.index(one.decision) if one.decision in order else len(order)


def _shown(reason: Mapping[str, Any]) -> str:
    """A value as it was read, with its unit; how the item ended where it had none."""
    value = reason.get("value")
    if value is None:
        return str(reason["status"])
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{text} {reason.get('unit', '')}".rstrip()


def _earlier(run: CheckRun) -> dict[int, CheckedHost]:
    """Each of the run's hosts as the last check before this one left it."""
    hosts = run.hosts.values("host_id")
    earlier = CheckedHost.objects.filter(host__in=hosts, run__lt=run.pk).exclude(decision="")
    return {one.host_id: one for one in earlier.order_by("run_id")}


@require_POST
def repeat(request: PageRequest, pk: int) -> HttpResponse:
    run = get_object_or_404(_runs(), pk=pk)
    try:
        confirm = request.POST.get("confirm") == "yes"
        again = check_runs.repeat(actor=actor_of(request), run=run, confirm=confirm)
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    except HostsInService as error:
        return _asked(request, error, {})
    except RecordsError as error:
        messages.error(request, str(error))
        return redirect("diagnosis:check", pk=pk)
    return redirect("diagnosis:check", pk=again.pk)


@require_POST
def cancel(request: PageRequest, pk: int) -> HttpResponse:
    try:
        check_runs.cancel(actor=actor_of(request), run=get_object_or_404(_runs(), pk=pk))
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    except RecordsError as error:
        messages.error(request, str(error))
    return redirect("diagnosis:check", pk=pk)


@require_safe
def export(request: PageRequest, pk: int) -> HttpResponse:
    """Every item of every host as CSV."""
    run = get_object_or_404(_runs(), pk=pk)
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="check-{run.pk}.csv"'
    names = ["item", "status", "value", "unit", "device", "criterion", "peers", "text"]
    table = csv.writer(answer)
    table.writerow(["host", "decision", *names])
    for one in run.hosts.select_related("host"):
        for reason in one.reasons:
            cells = [_cell(reason.get(name)) for name in names]
            table.writerow([_cell(one.host.name), one.decision, *cells])
    return answer


@require_safe
def export_json(request: PageRequest, pk: int) -> HttpResponse:
    """The whole check as JSON."""
    run = get_object_or_404(_runs(), pk=pk)
    shape = {
        "check": run.pk,
        "suite": run.suite.code,
        "suite_version": run.suite.version,
        "cluster": run.cluster.name,
        "state": run.state,
        "decision": run.decision,
        "mass": run.mass,
        "hosts": [
            {"host": one.host.name, "decision": one.decision, "items": one.reasons}
            for one in run.hosts.select_related("host")
        ],
    }
    answer = JsonResponse(shape, json_dumps_params={"indent": 1})
    answer["Content-Disposition"] = f'attachment; filename="check-{run.pk}.json"'
    return answer


def _cell(value: object) -> object:
    """Text that a spreadsheet would run as a formula is kept from it."""
    text = isinstance(value, str) and value[:1] in {"=", "+", "-", "@"}
    return f"'{value}" if text else value
