"""Check suites: the list, and one with its editor and its versions."""

import difflib

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from diagnosis.checks.suite_text import Problem, text_of
from diagnosis.models import CheckSuite
from diagnosis.services import check_suites
from incidents.exceptions import InvalidInput, NotAllowed, RecordsError
from incidents.roles import Capability
from incidents.views.requests import PageRequest, actor_of


@require_safe
def suites(request: PageRequest) -> HttpResponse:
    return render(request, "diagnosis/suites.html", {"suites": check_suites.all_newest()})


@require_http_methods(["GET", "HEAD", "POST"])
def suite(request: PageRequest, code: str) -> HttpResponse:
    """The newest version to read and edit, or an older one (`?version=`) to compare and restore."""
    versions = _versions(code)
    newest = versions[0]
    if request.method == "POST":
        return _save(request, versions)
    wanted = request.GET.get("version", "")
    shown = next((one for one in versions if str(one.version) == wanted), newest)
    return _page(request, versions, shown, text_of(shown.definition))


def _versions(code: str) -> list[CheckSuite]:
    check_suites.ensure_shipped()
    found = list(CheckSuite.objects.filter(code=code).order_by("-version"))
    if not found:
        raise Http404("There is no such suite.")
    return found


def _save(request: PageRequest, versions: list[CheckSuite]) -> HttpResponse:
    """The edited text as the next version; what cannot be used is shown again with its problems."""
    text, why = request.POST.get("definition", ""), request.POST.get("why", "").strip()
    actor, seen = actor_of(request), _number(request.POST.get("seen", ""))
    try:
        actor.require(Capability.OPERATE)
        if not why:
            raise InvalidInput("Say why it is changed.", field="why")
        saved = check_suites.save_version(actor=actor, definition=text, why=why, seen=seen)
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    except RecordsError as error:
        problems = getattr(error.__cause__, "problems", [Problem(0, str(error))])
        return _page(request, versions, versions[0], text, problems, why)
    messages.success(request, f"Saved as version {saved.version}. The next check uses it.")
    return redirect("diagnosis:suite", code=saved.code)


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 10 else None


def _page(
    request: PageRequest,
    versions: list[CheckSuite],
    shown: CheckSuite,
    text: str,
    problems: list[Problem] | None = None,
    why: str = "",
) -> HttpResponse:
    newest = versions[0]
    now, then = (text_of(one.definition).splitlines() for one in (newest, shown))
    context = {
        "suite": shown,
        "items": shown.suite.items,
        "newest": newest,
        "versions": versions,
        "text": text,
        "rows": min(max(text.count("\n") + 2, 12), 40),
        "why": why,
        "problems": problems or [],
        "changes": list(difflib.unified_diff(now, then, lineterm="", n=1))[2:],
        "may_edit": actor_of(request).may(Capability.OPERATE),
    }
    return render(request, "diagnosis/suite.html", context, status=400 if problems else 200)


@require_POST
def restore(request: PageRequest, code: str, version: int) -> HttpResponse:
    """An older version again, as the newest one."""
    found = next((one for one in _versions(code) if one.version == version), None)
    if found is None:
        raise Http404("There is no such version.")
    try:
        saved = check_suites.restore(
            actor=actor_of(request), version=found, why=request.POST.get("why", "")
        )
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    except RecordsError as error:
        messages.error(request, str(error))
        return redirect("diagnosis:suite", code=code)
    messages.success(request, f"Version {version} is back, as version {saved.version}.")
    return redirect("diagnosis:suite", code=code)
