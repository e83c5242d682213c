"""Loading the demo from an empty desk."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST
from kombu.exceptions import KombuError, OperationalError

from diagnosis.tasks import load_demo
from incidents.roles import Capability
from incidents.views.permitted import needs
from incidents.views.requests import PageRequest


@require_POST
@needs(Capability.OPERATE)
def demo(request: PageRequest) -> HttpResponse:
    """Asks a worker to tell the demo's stories."""
    try:
        load_demo.delay()
    except (OperationalError, KombuError, OSError):
        messages.error(
            request, "The broker does not answer: start it and a worker, then try again."
        )
    else:
        messages.success(request, "The demo is being loaded; its incidents appear here.")
    return redirect("incidents:desk")
