"""Pictures of a diagnosis, each with its table, for the incident's page to embed."""

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from diagnosis.models import ProgressPicture
from diagnosis.views.progress_shapes import shape


@require_safe
def progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Collective progress; no content where this diagnosis has no such picture."""
    picture = ProgressPicture.objects.filter(diagnosis=pk).first()
    asked = request.GET.get("communicator", "")
    shown = picture and shape(
        picture.data, communicator=int(asked) if asked.isdecimal() and len(asked) < 9 else None
    )
    if not shown:
        return HttpResponse(status=204)
    context = {"pk": pk, "progress": shown, "data": orjson.dumps(shown.plain()).decode()}
    return render(request, "diagnosis/_progress.html", context)
