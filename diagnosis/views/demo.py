"""Loading the demo from an empty desk."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST
from kombu.exceptions import KombuError, OperationalError

from diagnosis.tasks import load_demo
from incidents.exceptions import NotAllowed
from incidents.roles import Capability
from incidents.views.requests import PageRequest, actor_of


@require_POST
def demo(request: PageRequest) -> HttpResponse:
    """Asks a worker to tell the demo's stories."""
    try:
        actor_of(request).require(Capability.OPERATE)
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    try:
        load_demo.delay()
    except (OperationalError, KombuError, OSError):
        messages.error(
            request, "The broker does not answer: start it and a worker, then try again."
        )
    else:
        messages.success(request, "The demo is being loaded; its incidents appear here.")
    return redirect("incidents:desk")
