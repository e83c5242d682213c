"""Pictures of a diagnosis, each with its table, for the incident's page to embed."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from diagnosis.models import MetricPicture, ProgressPicture
from diagnosis.views.metric_shapes import band_table, outlier_table, pace_table, shift_table
from diagnosis.views.progress_shapes import shape


@require_safe
def progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Collective progress; no content where this diagnosis has no such picture."""
    picture = ProgressPicture.objects.filter(diagnosis=pk).first()
    address = reverse("diagnosis:progress", args=[pk])
    data = picture.data if picture else {}
    return drawn_progress(request, data, address=address, title="Collective progress")


@require_safe
def metrics(request: HttpRequest, pk: int) -> HttpResponse:
    """Suspects against their peers, and iteration times; no content where there are none."""
    picture = MetricPicture.objects.filter(diagnosis=pk).first()
    if picture is None:
        return HttpResponse(status=204)
    context = {
        "pace": pace_table(picture.data.get("pace")),
        "bands": [band_table(shown) for shown in picture.data.get("metrics", [])],
        "shifts": shift_table(picture.data.get("shifts") or []),
        "map": outlier_table(picture.data.get("map")),
        "data": orjson.dumps(picture.data).decode(),
    }
    return render(request, "diagnosis/_metrics.html", context)


def drawn_progress(
    request: HttpRequest, data: Mapping[str, Any], *, address: str, title: str
) -> HttpResponse:
    """The pictures of collective progress, one communicator in detail; no content without any.

    `address` is asked again with `?communicator=` for another one.
    """
    asked = request.GET.get("communicator", "")
    shown = shape(data, communicator=int(asked) if asked.isdecimal() and len(asked) < 9 else None)
    if not shown:
        return HttpResponse(status=204)
    context = {
        "address": address,
        "title": title,
        "progress": shown,
        "data": orjson.dumps(shown.plain()).decode(),
    }
    return render(request, "diagnosis/_progress.html", context)
