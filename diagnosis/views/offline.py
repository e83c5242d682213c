"""Offline diagnosis: the list, and one with its rounds over the topology."""

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from diagnosis.models import OfflineDiagnosis, TaskState
from diagnosis.services import offline, offline_tasks
from incidents import selectors
from incidents.exceptions import HostsInService, NotAllowed, RecordsError
from incidents.models import Incident
from incidents.roles import Capability
from incidents.views.paging import page_of
from incidents.views.requests import PageRequest, actor_of

_PAGE = 50
#: What a plan is made of; the question hands it on.
_GIVEN = ("hosts", "cluster", "test", "incident")
_RESULTS: Mapping[str, bool | None] = {"passed": True, "failed": False, "none": None}


def _all() -> QuerySet[OfflineDiagnosis]:
    return OfflineDiagnosis.objects.select_related("cluster", "incident", "suite")


def _incident(pk: str) -> Incident | None:
    """The incident of this id, where there is one within reach."""
    return Incident.objects.filter(pk=int(pk)).first() if pk.isdecimal() and len(pk) < 10 else None


def _hosts_of(incident: Incident) -> list[str]:
    """All hosts of the attempt where it is known: any of them may be the one."""
    placed = (
        incident.attempt.placements.values_list("host__name", flat=True) if incident.attempt else ()
    )
    return list(dict.fromkeys([*placed, *incident.hosts.values_list("name", flat=True)]))


@require_safe
def diagnoses(request: PageRequest) -> HttpResponse:
    incident = _incident(request.GET.get("incident", ""))
    context = {
        "incident": incident,
        "page": page_of(_all().order_by("-id"), after=request.GET.get("after", ""), size=_PAGE),
        "clusters": selectors.clusters(),
        "hosts": " ".join(_hosts_of(incident)) if incident else request.GET.get("hosts", ""),
        "tests": offline_tasks.group_tests(),
        "may_start": actor_of(request).may(Capability.OPERATE),
    }
    return render(request, "diagnosis/offline_list.html", context)


@require_POST
def start(request: PageRequest) -> HttpResponse:
    names = request.POST.get("hosts", "").replace(",", " ").split()
    suite, _, item = request.POST.get("test", "").partition("/")
    incident = _incident(request.POST.get("incident", ""))
    try:
        made = offline.start(
            actor=actor_of(request),
            names=names,
            cluster=request.POST.get("cluster", ""),
            incident=incident,
            suite=suite,
            item=item,
            confirm=request.POST.get("confirm") == "yes",
        )
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    except HostsInService as error:
        given = {name: request.POST[name] for name in _GIVEN if request.POST.get(name)}
        back = reverse("diagnosis:offline-list")
        context = {
            "title": "Test hosts in service?",
            "question": str(error),
            "given": given,
            "action": request.path,
            "back": f"{back}?incident={incident.pk}" if incident else back,
            "go_on": "Plan all the same",
        }
        return render(request, "diagnosis/confirm_hosts.html", context, status=409)
    except RecordsError as error:
        messages.error(request, str(error))
        return redirect("diagnosis:offline-list")
    return redirect("diagnosis:offline", pk=made.pk)


@require_safe
def diagnosis(request: PageRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_all(), pk=pk)
    newest = found.rounds[-1] if found.rounds and found.rounds[-1]["results"] is None else None
    tasks = found.tasks.filter(number=len(found.rounds))
    context = {
        "diagnosis": found,
        "map": _map(found),
        "open": newest,
        "number": len(found.rounds),
        "tasks": tasks.count(),
        "done": tasks.filter(state=TaskState.DONE).count(),
        "answered": [
            {"number": number, "purpose": row["purpose"], "groups": _told(row)}
            for number, row in enumerate(found.rounds, 1)
            if row["results"] is not None
        ][::-1],
        "may_answer": actor_of(request).may(Capability.OPERATE),
    }
    return render(request, "diagnosis/offline.html", context)


def _told(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"hosts": group, "result": result, "value": value}
        for group, result, value in zip_longest(
            row["groups"], row["results"], row.get("values") or []
        )
    ]


def _map(found: OfflineDiagnosis) -> list[dict[str, Any]]:
    """The hosts by pod and ToR, each with how its tests went: `bad`, `warn`, `good`, or nothing."""
    failed: set[str] = set()
    passed: set[str] = set()
    for row in found.rounds:
        for group, result in zip(row["groups"], row["results"] or [], strict=False):
            (passed if result else failed if result is False else set()).update(group)
    named = {one["target"]["host"] for one in found.answer.get("suspects", [])}
    switches = {one["target"]["name"] for one in found.answer.get("suspects", [])}
    tors: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in found.topology:
        name = row["name"]
        look = "good" if name in passed else ""
        look = "warn" if name in failed and name not in passed else look
        look = "bad" if name in named else look
        tors.setdefault((row["pod"], ", ".join(row["tor"])), []).append(
            {"name": name, "look": look, "told": _WORDS[look]}
        )
    return [
        {"pod": pod, "tor": tor, "hosts": hosts, "is_named": tor in switches}
        for (pod, tor), hosts in sorted(tors.items())
    ]


_WORDS = {"": "not tested", "good": "passed", "warn": "only failed so far", "bad": "named"}


@require_POST
def cancel(request: PageRequest, pk: int) -> HttpResponse:
    try:
        offline.cancel(actor=actor_of(request), diagnosis=get_object_or_404(_all(), pk=pk))
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    except RecordsError as error:
        messages.error(request, str(error))
    return redirect("diagnosis:offline", pk=pk)


@require_POST
def answer(request: PageRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_all(), pk=pk)
    number = request.POST.get("round", "")
    groups = found.rounds[-1]["groups"] if found.rounds else []
    told = [request.POST.get(f"group-{place}", "") for place in range(len(groups))]
    try:
        if any(word not in _RESULTS for word in told) or not number.isdigit():
            messages.error(request, "Say of every group how its test went.")
        else:
            offline.answer(
                actor=actor_of(request),
                diagnosis=found,
                number=int(number),
                results=[_RESULTS[word] for word in told],
            )
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    except RecordsError as error:
        messages.error(request, str(error))
    return redirect("diagnosis:offline", pk=pk)
