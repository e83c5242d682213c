"""Evidence: handing it in, listing it, reading it back."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api import examples
from incidents.api.authentication import actor_of
from incidents.api.describing import gives, takes
from incidents.api.etag import etag_of, require_match
from incidents.api.filters import EvidenceListFilter, refuse_unknown
from incidents.api.idempotency import fingerprint_of, keep, key_of, releasing, replayed
from incidents.api.parsers import RawParser
from incidents.api.serializers.diagnoses import DiagnosisBriefSerializer
from incidents.api.serializers.evidence import (
    EvidenceSerializer,
    FilesSerializer,
    OriginSerializer,
    UploadedSerializer,
    UseSerializer,
)
from incidents.api.uploads import Upload, digest_of, is_form, uploads_in
from incidents.api.viewsets.base import RecordViewSet, address, record_of
from incidents.models import Diagnosis, Evidence, Incident
from incidents.roles import Capability
from incidents.services import idempotency
from incidents.services.aside import set_aside, take_back
from incidents.services.diagnoses import request_diagnosis
from incidents.services.evidence import attach_evidence, open_content
from incidents.services.idempotency import Answer

_ORIGIN = frozenset(OriginSerializer().fields)


class EvidenceOfIncidentViewSet(RecordViewSet):
    """The files of one incident."""

    needs = {"POST": Capability.RESPOND}
    parser_classes = [MultiPartParser, RawParser]
    queryset = selectors.evidence()
    serializer_class = EvidenceSerializer
    filterset_class = EvidenceListFilter

    def list(self, request: Request, incident: int) -> Response:
        """Files of an incident, newest first."""
        return self.page(selectors.evidence_of(record_of(selectors.incidents(), incident)))

    @takes(
        {
            "multipart/form-data": FilesSerializer,
            "application/octet-stream": OpenApiTypes.BINARY,
        },
        gives={201: UploadedSerializer, 200: UploadedSerializer},
        examples=[examples.UPLOADED],
        parameters=[OriginSerializer],
    )
    def create(self, request: Request, incident: int) -> Response:
        """Hand in files, and have them diagnosed.

        As a form with any number of files, or one file as the raw body, streamed, named by `name`
        or Content-Disposition. A gzip or zstd body is kept as it is and read through. What is
        said about host, rank, job and kind wins over what names tell. The same bytes under the
        same name are joined. New files end in one queued diagnosis, unless `diagnose=false` says
        that more will follow. Nothing of this is lost when it is sent twice.
        """
        found = record_of(selectors.incidents(), incident)
        origin = self._origin(request)
        uploads = uploads_in(request, name=origin.pop("name", ""))
        key = key_of(request)
        begun = idempotency.begin(actor=actor_of(request), key=key) if key else None
        if isinstance(begun, Answer):
            sent = fingerprint_of(request, [origin, digest_of(uploads)])
            idempotency.check_same(begun.fingerprint, sent)
            return replayed(begun)
        with releasing(begun):
            response, files = self._attach(found, uploads, origin)
            if begun is not None:
                keep(begun, response, fingerprint_of(request, [origin, files]))
        return response

    def _origin(self, request: Request) -> dict[str, Any]:
        """What the uploader says of the files, in the query or in the form."""
        refuse_unknown(request, _ORIGIN)
        form = request.POST.dict() if is_form(request) else {}
        body = OriginSerializer(data={**form, **request.query_params.dict()})
        body.is_valid(raise_exception=True)
        return dict(body.validated_data)

    def _attach(
        self, incident: Incident, uploads: Sequence[Upload], origin: dict[str, Any]
    ) -> tuple[Response, Sequence[tuple[str, str]]]:
        attached, any_new = [], False
        for upload in uploads:
            evidence, new = attach_evidence(
                actor=self.actor,
                incident=incident,
                name=upload.name,
                stream=upload.stream,
                host=origin["host"],
                rank=origin.get("rank"),
                job_label=origin["job"],
                kind=origin.get("kind"),
            )
            attached.append(evidence)
            any_new = any_new or new
        run = self._diagnosis(incident, wanted=origin["diagnose"] and any_new)
        shown = {
            "evidence": self.get_serializer(attached, many=True).data,
            "diagnosis": DiagnosisBriefSerializer(run).data if run else None,
        }
        headers = {"Location": address("evidence", attached[0].pk)} if len(attached) == 1 else {}
        response = Response(shown, status=201 if any_new else 200, headers=headers)
        names = [upload.name for upload in uploads]
        return response, [(n, e.blob.sha256) for n, e in zip(names, attached, strict=True)]

    def _diagnosis(self, incident: Incident, *, wanted: bool) -> Diagnosis | None:
        """The run that judges the files: a new or waiting one, or the newest where nothing is."""
        if wanted:
            return request_diagnosis(actor=self.actor, incident=incident)
        return selectors.diagnoses_of(incident).first()


class EvidenceViewSet(RecordViewSet):
    """One file."""

    needs = {"PATCH": Capability.RESPOND}
    queryset = selectors.evidence()
    serializer_class = EvidenceSerializer

    def retrieve(self, request: Request, pk: int) -> Response:
        """What a file is, and whether it could be read."""
        return Response(self.shown(record_of(selectors.evidence(), pk)))

    @takes(UseSerializer, gives={200: EvidenceSerializer}, examples=[examples.SET_ASIDE])
    def partial_update(self, request: Request, pk: int) -> Response:
        """Set a file aside, so that no later diagnosis uses it, or take it back.

        A file that stands so already is left as it is.
        """
        wanted = self.given(UseSerializer)
        with transaction.atomic():
            evidence = record_of(selectors.evidence().select_for_update(of=("self",)), pk)
            require_match(request, etag_of(self.shown(evidence)))
            if wanted["set_aside"] and evidence.set_aside_at is None:
                set_aside(actor=self.actor, evidence=evidence, reason=wanted["reason"])
            elif not wanted["set_aside"] and evidence.set_aside_at is not None:
                take_back(actor=self.actor, evidence=evidence)
        return Response(self.shown(record_of(selectors.evidence(), pk)))

    @gives({(200, "application/octet-stream"): OpenApiTypes.BINARY})
    def content(self, request: Request, pk: int) -> FileResponse:
        """The bytes as they were handed in."""
        evidence = record_of(selectors.evidence(), pk)
        return _download(evidence)


def _download(evidence: Evidence) -> FileResponse:
    response = FileResponse(
        open_content(evidence),
        as_attachment=True,
        filename=evidence.name.rpartition("/")[2],
        content_type="application/octet-stream",
    )
    response["Content-Length"] = str(evidence.blob.size)
    response["ETag"] = f'"{evidence.blob.sha256}"'
    return response
