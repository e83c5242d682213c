"""Taking a file out of use, and back."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from incidents import selectors
from incidents.exceptions import InvalidInput
from incidents.services.aside import purge, set_aside, take_back
from incidents.views.answers import change, changed
from incidents.views.requests import PageRequest, actor_of

PAGE = "incidents:incident"


@require_safe
def aside(request: PageRequest, pk: int) -> HttpResponse:
    """What can be done with a file that should not be judged."""
    evidence = get_object_or_404(selectors.evidence(), pk=pk)
    return render(request, "incidents/aside.html", {"evidence": evidence})


@change
def change_use(request: PageRequest, evidence: int) -> HttpResponse:
    """Sets a file aside, takes it back, or deletes its bytes, as `do` says."""
    found = get_object_or_404(selectors.evidence(), pk=evidence)
    actor, reason = actor_of(request), request.POST.get("reason", "")[:4000]
    match request.POST.get("do"):
        case "set-aside":
            set_aside(actor=actor, evidence=found, reason=reason)
            text = f"{found} is set aside; run the diagnosis again to judge without it."
        case "take-back":
            take_back(actor=actor, evidence=found)
            text = f"{found} is in use again; run the diagnosis again to judge with it."
        case "purge":
            purge(actor=actor, evidence=found, reason=reason)
            text = f"The bytes of {found} are deleted."
        case _:
            raise InvalidInput("Choose what to do with the file.", field="do")
    return changed(request, text, to=PAGE, pk=found.incident_id)
