"""The lines around a finding in a file of an archive, for the finding's place and on a page."""

from dataclasses import replace
from typing import BinaryIO, cast

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from diagnosis.readers.archive_lookup import inner_file
from diagnosis.readers.archive_members import BrokenArchive
from diagnosis.services.evidence import as_evidence
from incidents.exceptions import BlobMissing
from incidents.excerpts import Excerpt, excerpt
from incidents.models import Evidence
from incidents.views.near_lines import FAR, NEAR, line_asked
from incidents.views.requests import PageRequest


@require_safe
@vary_on_headers("HX-Request")
def inner_lines(request: PageRequest, pk: int) -> HttpResponse:
    """The lines around one (`line`, from 1) of the file that findings call `file`."""
    evidence = get_object_or_404(Evidence.objects.select_related("blob", "incident"), pk=pk)
    path, line = request.GET.get("file", ""), line_asked(request)
    context = {
        "evidence": evidence,
        "name": path,
        "excerpt": _lines(evidence, path, line, NEAR if request.htmx else FAR),
        "address": f"{reverse('diagnosis:inner-lines', args=[pk])}?{urlencode({'file': path})}&",
    }
    if not request.htmx:
        return render(request, "incidents/lines.html", context)
    response = render(request, "incidents/_lines.html", context)
    response["Cache-Control"] = "private, max-age=3600"  # evidence never changes
    return response


def _lines(evidence: Evidence, path: str, line: int | None, reach: tuple[int, int]) -> Excerpt:
    """The lines; a note in place of them where the file cannot be reached."""
    folder, archive, _ = path.partition(f"{evidence.name}/")
    before, after = reach
    try:
        named = replace(as_evidence(evidence), name=f"{folder}{archive}".removesuffix("/"))
        with inner_file(named, path) as stream:
            content = cast("BinaryIO", stream)
            marked = line is not None
            return excerpt(content, line=line or 1, before=before, after=after, mark=marked)
    except (BrokenArchive, BlobMissing) as error:
        return Excerpt(note=f"These lines were not reached: {error}.")
