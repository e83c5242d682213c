"""The incident's page: the answer first, then its proof."""

import hashlib

from django.http import Http404, HttpResponse, HttpResponsePermanentRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import condition, require_safe
from django.views.decorators.vary import vary_on_headers

from incidents import selectors
from incidents.choices import Action, Resolution
from incidents.forms import SNOOZES
from incidents.models import Diagnosis, Incident
from incidents.services.opening import OPENED
from incidents.services.transitions import allowed_steps
from incidents.views.answer_changes import changes_of
from incidents.views.certainty import certain_of, chip_of
from incidents.views.coverage import coverage_of
from incidents.views.incident_parts import advice_of, first_to_see, proof_of
from incidents.views.requests import PageRequest
from incidents.views.timeline import entries


def incident_tag(request: PageRequest, pk: int) -> str | None:
    """The ETag of the live part: changes of the incident, its timeline, and its runs."""
    if not request.htmx:
        return None
    known = (selectors.change_of(pk), request.user.pk, request.user.role, request.get_full_path())
    return f'"{hashlib.sha256(repr(known).encode()).hexdigest()[:20]}"'


@require_safe
@vary_on_headers("HX-Request")
@condition(etag_func=incident_tag)
def incident(request: PageRequest, pk: int) -> HttpResponse:
    """The whole page, or its live part where htmx asks.

    `?diagnosis=N` shows an earlier answer, `?files` all files. What was merged leads to what it is
    part of; `?own` shows its own record.
    """
    found = get_object_or_404(selectors.incident_with_hosts(), pk=pk)
    if found.merged_into is not None and "own" not in request.GET:
        return _moved(found)
    runs = list(selectors.diagnoses_of(found))
    answer = _answer(found, request.GET.get("diagnosis", ""))
    evidence = list(selectors.evidence_of(found))
    events = list(selectors.timeline(found))
    context = {
        "incident": found,
        "runs": runs,
        "last_run": runs[0] if runs else None,
        "answer": answer,
        "newest": answer is None or answer.number == _newest_number(runs),
        "evidence": evidence,
        "shown_evidence": evidence if "files" in request.GET else first_to_see(evidence),
        "entries": entries(events),
        "opener": next((one for one in events if one.verb == OPENED), None),
        "steps": allowed_steps(found.status),
        "resolutions": Resolution.choices,
        "actions": Action.choices,
        "people": selectors.people(),
        "snoozes": SNOOZES,
        "merged": list(selectors.merged_into(found)),
        "split_off": list(found.split_off.all()),
        "tickets": list(selectors.tickets_of(found)),
        "ticket_systems": selectors.connectors_offered(found),
        "came_from": request.GET.get("from", ""),
        "similar": selectors.similar_incidents(found),
    }
    if answer is not None:
        before = selectors.finished_before(answer)
        context |= {
            "advice": advice_of(answer, found),
            "proof": proof_of(answer),
            "certain_of": certain_of(answer),
            "class_chip": chip_of(answer.verdict_class),
            "coverage": coverage_of(answer.coverage),
            "before": before,
            "changes": changes_of(answer, before) if before else [],
            "aftermath": selectors.aftermath_of(found, now=timezone.now()),
        }
    name = "incidents/_incident.html" if request.htmx else "incidents/incident.html"
    return render(request, name, context)


def _moved(incident: Incident) -> HttpResponse:
    """To the incident that this one is part of: for good, unless someone takes it out again.

    So no browser may keep the answer.
    """
    standing = selectors.standing_record(incident)
    there = reverse("incidents:incident", kwargs={"pk": standing.pk})
    there = f"{there}?from={incident.reference}"
    response = HttpResponsePermanentRedirect(there, preserve_request=True)
    response["Cache-Control"] = "no-store"
    return response


def _answer(incident: Incident, number: str) -> Diagnosis | None:
    """The newest finished run, or the one with this number."""
    if not number:
        return selectors.latest_finished(incident)
    runs = selectors.diagnoses_in_full().filter(incident=incident, state="done")
    found = runs.filter(number=int(number)).first() if number.isdecimal() else None
    if found is None:
        raise Http404("This incident has no such diagnosis.")
    return found


def _newest_number(runs: list[Diagnosis]) -> int | None:
    return next((run.number for run in runs if run.state == "done"), None)
