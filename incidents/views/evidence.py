"""Evidence: handing it in, reading around a line, and taking it away again."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import FileResponse, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from incidents.exceptions import BlobMissing, InvalidInput, NotAllowed, RecordsError
from incidents.models import Evidence, Incident
from incidents.services import diagnoses
from incidents.services.evidence import attach_evidence, open_content
from incidents.views.answers import change, changed
from incidents.views.near_lines import FAR, NEAR, line_asked, lines_around
from incidents.views.requests import PageRequest, actor_of


def attach_all(request: PageRequest, incident: Incident) -> Sequence[Mapping[str, str]]:
    """Every file of the request handed in; one that is refused stops none beside it."""
    files = request.FILES.getlist("files")
    paths = request.POST.getlist("path")
    names = paths if len(paths) == len(files) else [file.name or "" for file in files]
    return [_attach(request, incident, *one) for one in zip(files, names, strict=True)]


def _attach(
    request: PageRequest, incident: Incident, file: UploadedFile[Any], name: str
) -> Mapping[str, str]:
    actor = actor_of(request)
    try:
        _, created = attach_evidence(actor=actor, incident=incident, name=name, stream=file)
    except NotAllowed:
        raise
    except RecordsError as error:
        return {"name": name, "state": "refused", "reason": str(error)}
    return {"name": name, "state": "stored" if created else "known", "reason": ""}


@change
def upload(request: PageRequest, pk: int) -> HttpResponseBase:
    """Files for an incident. The run is asked for once, when no more (`more`) are to come."""
    incident = get_object_or_404(Incident, pk=pk)
    if "more" not in request.POST and not request.FILES and "finish" not in request.POST:
        raise InvalidInput("Choose at least one file.", field="files")
    results = attach_all(request, incident)
    if "more" not in request.POST:
        diagnoses.request_diagnosis(actor=actor_of(request), incident=incident)
    if request.accepts("text/html"):
        return changed(request, words_of(results), to="incidents:incident", pk=pk)
    return JsonResponse({"files": list(results)})


def words_of(results: Sequence[Mapping[str, str]]) -> str:
    """What became of the files, in one sentence."""
    refused = [f"{one['name']}: {one['reason']}" for one in results if one["state"] == "refused"]
    known = sum(one["state"] == "known" for one in results)
    words = [f"{len(results) - len(refused)} of {len(results)} files handed in"]
    if known:
        words.append(f"{known} of them already here")
    return ". ".join([", ".join(words), *refused[:3]]) + "."


@require_safe
@vary_on_headers("HX-Request")
def lines(request: PageRequest, pk: int) -> HttpResponse:
    """The lines around one (`line`, from 1): beside its finding for htmx, else a page."""
    evidence = get_object_or_404(Evidence.objects.select_related("blob", "incident"), pk=pk)
    template = "incidents/_lines.html" if request.htmx else "incidents/lines.html"
    context = {
        "evidence": evidence,
        "name": evidence.name,
        "excerpt": lines_around(evidence, line_asked(request), NEAR if request.htmx else FAR),
        "address": f"{reverse('incidents:lines', args=[pk])}?",
    }
    response = render(request, template, context)
    if request.htmx:
        response["Cache-Control"] = "private, max-age=3600"  # evidence never changes
    return response


@require_safe
def download(request: PageRequest, pk: int) -> HttpResponseBase:
    """The bytes as they were handed in; never shown by the browser itself."""
    evidence = get_object_or_404(Evidence.objects.select_related("blob"), pk=pk)
    try:
        stream = open_content(evidence)
    except BlobMissing as error:
        return HttpResponse(str(error), status=410, content_type="text/plain")
    name = evidence.name.rsplit("/", 1)[-1]
    response = FileResponse(
        stream, as_attachment=True, filename=name, content_type="application/octet-stream"
    )
    response["Content-Length"] = str(evidence.blob.size)
    response["X-Content-Type-Options"] = "nosniff"
    return response
