"""The past of one host or device, as its page shows it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from incidents.figures.lemon import LemonRule, lemon_score
from incidents.models import Device, Host
from incidents.selectors import past
from incidents.selectors.offences import Offence, offences_of
from incidents.views.requests import PageRequest

#: Records that a page reads; what lies further back is in the incidents.
_RECORDS = 1000


@dataclass(frozen=True, slots=True)
class Counted:
    """One accusation with how much it counts towards the score."""

    offence: Offence
    share: float


@dataclass(frozen=True, slots=True)
class Reckoning:
    """A host's repeat-offender score as of now, and how it comes about."""

    score: float
    faults: float
    counted: Sequence[Counted]
    half_life: float
    worst: float


def reckoning_of(host: Host) -> Reckoning:
    """The score with every accusation's share, the weightiest first."""
    now, rule = timezone.now(), LemonRule()
    offences = offences_of([host], before=now)[host.pk]
    lemon = lemon_score([one.accusation for one in offences], now, rule)
    counted = [Counted(one, share) for one, share in zip(offences, lemon.shares, strict=True)]
    counted.sort(key=lambda one: -one.share)
    return Reckoning(lemon.score, lemon.faults, counted, rule.half_life_days, rule.worst_share)


def past_of(host: Host) -> dict[str, object]:
    """What the host's page shows of its past."""
    return {
        "reckoning": reckoning_of(host),
        "faults": past.by_fault(past.faults_of_host(host)[:_RECORDS]),
        "seats": past.devices_in(host)[:_RECORDS],
        "outages": past.out_of_service(host),
    }


@require_safe
def device(request: PageRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Device, pk=pk)
    context = {
        "device": found,
        "seats": past.seats_of(found)[:_RECORDS],
        "faults": past.by_fault(past.faults_of_device(found)[:_RECORDS]),
    }
    return render(request, "incidents/device.html", context)
