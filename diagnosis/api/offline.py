"""Offline diagnoses: planned here, their rounds run and answered by people or programs."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from diagnosis.models import OfflineDiagnosis
from diagnosis.services import offline
from incidents.api.describing import takes
from incidents.api.idempotency import idempotent
from incidents.api.serializers.fields import HostNameField, InstantField
from incidents.api.viewsets.base import RecordViewSet, record_of
from incidents.roles import Capability


class OfflineRoundSerializer(serializers.Serializer[Any]):
    """One round: disjoint groups that run side by side; `results` is null while it is open."""

    purpose = serializers.CharField()
    groups = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    results = serializers.ListField(
        child=serializers.BooleanField(allow_null=True), allow_null=True
    )
    values = serializers.ListField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text="The worst reading of each group, where runners ran the round.",
    )


class OfflineDiagnosisSerializer(serializers.ModelSerializer[OfflineDiagnosis]):
    """An offline diagnosis; `answer` has the shape of a diagnosis once it is over."""

    cluster = serializers.CharField(source="cluster.name")
    incident = serializers.IntegerField(source="incident_id", allow_null=True)
    suite = serializers.CharField(source="suite.code", allow_null=True, default=None)
    state = serializers.CharField(help_text="running, done or cancelled.")
    started_at = InstantField()
    finished_at = InstantField(allow_null=True)
    rounds = OfflineRoundSerializer(many=True)
    answer = serializers.DictField()

    class Meta:
        model = OfflineDiagnosis
        fields = [
            "id",
            "cluster",
            "incident",
            "suite",
            "item",
            "state",
            "requested_by",
            "started_at",
            "finished_at",
            "rounds",
            "answer",
        ]


class NewOfflineSerializer(serializers.Serializer[Any]):
    """The hosts in question. With `suite` and `item`, runners run that item on each round's groups;
    without, results are given by whoever runs them.
    """

    hosts = serializers.ListField(child=HostNameField(), allow_empty=False, max_length=5000)
    cluster = serializers.CharField(max_length=100, required=False, allow_blank=True)
    suite = serializers.CharField(max_length=100, required=False, allow_blank=True)
    item = serializers.CharField(max_length=100, required=False, allow_blank=True)
    confirm = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Go on with hosts that are in service, or on which a job runs.",
    )


class RoundResultsSerializer(serializers.Serializer[Any]):
    """Did each group's test pass; null for no answer."""

    results = serializers.ListField(child=serializers.BooleanField(allow_null=True))


class OfflineDiagnosisViewSet(RecordViewSet):
    """Offline diagnoses."""

    needs = {"POST": Capability.OPERATE}
    queryset = OfflineDiagnosis.objects.none()
    serializer_class = OfflineDiagnosisSerializer

    def get_queryset(self) -> QuerySet[OfflineDiagnosis]:
        """Asked at each request, within the reach of whoever asks."""
        return OfflineDiagnosis.objects.select_related("cluster", "suite")

    def list(self, request: Request) -> Response:
        """Offline diagnoses, newest first."""
        return self.page(self.get_queryset())

    def retrieve(self, request: Request, pk: int) -> Response:
        """One offline diagnosis; its last round is the open one."""
        return Response(self.shown(record_of(self.get_queryset(), pk)))

    @takes(NewOfflineSerializer, gives={201: OfflineDiagnosisSerializer})
    @idempotent()
    def create(self, request: Request) -> Response:
        """Plan the first round on some hosts that are out of service."""
        given = self.given(NewOfflineSerializer)
        made = offline.start(actor=self.actor, names=given.pop("hosts"), **given)
        return Response(self.shown(made), status=201)

    @takes(RoundResultsSerializer, gives={200: OfflineDiagnosisSerializer})
    def answer(self, request: Request, pk: int, number: int) -> Response:
        """Give the results of the open round; the next one, or the verdict, is in the answer."""
        given = self.given(RoundResultsSerializer)
        found = record_of(self.get_queryset(), pk)
        done = offline.answer(actor=self.actor, diagnosis=found, number=number, **given)
        return Response(self.shown(done))

    @takes(None, gives={200: OfflineDiagnosisSerializer})
    def cancel(self, request: Request, pk: int) -> Response:
        """End it without an answer."""
        found = record_of(self.get_queryset(), pk)
        return Response(self.shown(offline.cancel(actor=self.actor, diagnosis=found)))
