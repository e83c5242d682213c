"""The lines around a finding, for its place on a page."""

from django.urls import reverse
from django.utils.http import urlencode

from incidents.choices import EvidenceKind
from incidents.exceptions import BlobMissing
from incidents.excerpts import Excerpt, excerpt
from incidents.models import Evidence, Finding
from incidents.services.evidence import open_content
from incidents.views.requests import PageRequest

#: Lines above and below the one that is told of: beside its finding, and on a page of their own.
NEAR, FAR = (5, 8), (100, 200)
#: Findings up to this many bytes into their file are shown with the page's first answer.
_AT_ONCE = 256 * 1024


def lines_around(evidence: Evidence, line: int | None, reach: tuple[int, int] = NEAR) -> Excerpt:
    """Some lines of a file; a note in place of them where its bytes are gone.

    Without a line they are the first ones, and none is marked.
    """
    if evidence.kind == EvidenceKind.ARCHIVE:
        return Excerpt(note="An archive: findings lead to the lines of the files in it.")
    before, after = reach
    try:
        with open_content(evidence) as stream:
            marked = line is not None
            return excerpt(stream, line=line or 1, before=before, after=after, mark=marked)
    except BlobMissing as error:
        return Excerpt(note=str(error))


def lines_at_once(finding: Finding, line: int) -> Excerpt | None:
    """The lines of a finding near its file's start; None for one that takes longer to reach."""
    offset = (finding.locator or {}).get("offset")
    if finding.evidence is None or not isinstance(offset, int) or offset > _AT_ONCE:
        return None
    if finding.evidence.kind == EvidenceKind.ARCHIVE:
        return None
    return lines_around(finding.evidence, line)


def address_of_lines(finding: Finding) -> str:
    """Where the lines around a finding are, for a `line=` to follow."""
    if finding.evidence is None:
        return ""
    pk = finding.evidence.pk
    if finding.evidence.kind == EvidenceKind.ARCHIVE:
        inside = urlencode({"file": finding.evidence_name})
        return f"{reverse('diagnosis:inner-lines', args=[pk])}?{inside}&"
    return f"{reverse('incidents:lines', args=[pk])}?"


def line_asked(request: PageRequest) -> int | None:
    """The number of the line that an address asks for; None for what is none."""
    text = request.GET.get("line", "")
    return int(text) if text.isdecimal() and 0 < len(text) < 13 and int(text) else None
