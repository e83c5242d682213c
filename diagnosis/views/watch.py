"""What the watch last saw of a job, for the job's page to embed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from diagnosis.collectives.counters import collective_progress
from diagnosis.collectives.picture import progress_picture
from diagnosis.core.live_progress import LiveProgress, Phase
from diagnosis.core.placement import Placement
from diagnosis.models import JobWatch, LiveState, WatchVerdict
from diagnosis.services.evidence import placement_of_attempt
from diagnosis.services.progress import live_progress
from diagnosis.views.pictures import drawn_progress
from incidents import selectors
from incidents.views.coverage import coverage_of

#: How each verdict looks.
_LOOKS: Mapping[str, str] = {
    WatchVerdict.HEALTHY: "good",
    WatchVerdict.SLOW: "warn",
    WatchVerdict.HUNG: "bad",
    WatchVerdict.CANNOT_TELL: "warn",
}
#: Reports this much older than the newest one (s) count as missing in the picture.
_BEHIND = 180.0


@dataclass(frozen=True, slots=True)
class Reported:
    """What the ranks' reports add up to in a few words."""

    ranks: int
    step: int | None
    phases: str


@require_safe
def watch(request: HttpRequest, pk: int) -> HttpResponse:
    """The watch over a job's newest attempt."""
    job = get_object_or_404(selectors.jobs(), pk=pk)
    attempt = selectors.attempts_of(job).first()
    found = JobWatch.objects.filter(attempt=attempt).select_related("incident").first()
    state = LiveState.objects.filter(attempt=attempt).first()
    context = {
        "job": job,
        "watch": found,
        "look": _LOOKS.get(found.verdict, "") if found else "",
        "coverage": coverage_of(found.coverage) if found else None,
        "state": state,
        "reported": _reported(live_progress(state)),
    }
    return render(request, "diagnosis/_watch.html", context)


@require_safe
def live(request: HttpRequest, pk: int) -> HttpResponse:
    """Progress by rank, as last reported; no content where nothing was."""
    attempt = get_object_or_404(selectors.attempts(), pk=pk)
    known = live_progress(LiveState.objects.filter(attempt=attempt).first())
    data = _picture(known, placement_of_attempt(attempt)) if known else {}
    address = reverse("diagnosis:live", args=[pk])
    return drawn_progress(request, data, address=address, title="Progress by rank")


def _picture(known: LiveProgress, placement: Placement) -> Mapping[str, object]:
    """Who waits for whom is drawn only where nobody moves: in motion it is gone as it is told."""
    fresh = known.seen > known.last_seen - _BEHIND
    progress = collective_progress(known, placement, fresh=fresh)
    if known.last_seen - known.last_moved < settings.WATCH_STILL_SECONDS:
        progress = replace(progress, waiting={}, open_in={})
    return progress_picture(progress)


def _reported(known: LiveProgress | None) -> Reported | None:
    if known is None or not len(known.ranks):
        return None
    told = known.step[known.step >= 0]
    phases, counts = np.unique(known.phase, return_counts=True)
    words = [
        f"{count:,} in phase {Phase(phase).word}"
        for phase, count in zip(phases.tolist(), counts.tolist(), strict=True)
        if phase != Phase.UNKNOWN
    ]
    return Reported(
        ranks=len(known.ranks),
        step=int(np.median(told)) if len(told) else None,
        phases=", ".join(words),
    )
