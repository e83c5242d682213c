"""Progress reports of running attempts, and what the watch makes of them."""

from typing import Any

from drf_spectacular.utils import OpenApiExample
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from diagnosis.core.live_progress import PHASES
from diagnosis.models import JobWatch, LiveState, WatchVerdict
from diagnosis.readers.progress_reports import BadReports, read_reports
from diagnosis.services.progress import take_reports
from incidents import selectors
from incidents.api.describing import gives, takes
from incidents.api.problems import Problem, pointer
from incidents.api.serializers.fields import InstantField
from incidents.api.viewsets.base import RecordViewSet, record_of
from incidents.roles import Capability


class CommSerializer(serializers.Serializer[Any]):
    """How far a rank is in one communicator; -1 for none yet."""

    comm = serializers.CharField(max_length=200)
    enqueued = serializers.IntegerField(min_value=-1)
    started = serializers.IntegerField(min_value=-1, required=False)
    completed = serializers.IntegerField(min_value=-1)


class ReportSerializer(serializers.Serializer[Any]):
    """One rank's report."""

    rank = serializers.IntegerField(min_value=0)
    step = serializers.IntegerField(min_value=0, required=False)
    phase = serializers.ChoiceField(choices=sorted(PHASES), required=False)
    comms = CommSerializer(many=True, required=False)


class ProgressSerializer(serializers.Serializer[Any]):
    """The reports of some or all ranks at one time. Describes the body; a reader of its own, made
    for thousands of ranks, checks it.
    """

    time = serializers.DateTimeField(help_text="With its offset from UTC, or in seconds.")
    reports = ReportSerializer(many=True)


class TakenSerializer(serializers.Serializer[Any]):
    """What became of the reports."""

    reports = serializers.IntegerField()
    late = serializers.IntegerField(help_text="Not newer than what is known, and passed over.")
    ranks = serializers.IntegerField(help_text="Ranks of the attempt that have reported so far.")


class WatchSerializer(serializers.ModelSerializer[JobWatch]):
    """What the watch last saw of an attempt, and when."""

    attempt = serializers.IntegerField(source="attempt_id")
    verdict = serializers.ChoiceField(choices=[(word.value, word.value) for word in WatchVerdict])
    judged_at = InstantField(allow_null=True)
    next_due_at = InstantField()
    seen_until = InstantField(allow_null=True)
    error_since = InstantField(allow_null=True)
    incident = serializers.IntegerField(source="incident_id", allow_null=True)

    class Meta:
        model = JobWatch
        fields = [
            "attempt",
            "active",
            "verdict",
            "summary",
            "phase",
            "judged_at",
            "next_due_at",
            "seen_until",
            "coverage",
            "error",
            "error_since",
            "incident",
        ]


_REPORTS = OpenApiExample(
    "Two ranks, one communicator",
    {
        "time": "2026-11-30T06:20:00Z",
        "reports": [
            {
                "rank": 0,
                "step": 31200,
                "phase": "train",
                "comms": [{"comm": "dp_0", "enqueued": 4712, "started": 4711, "completed": 4710}],
            },
            {
                "rank": 1,
                "step": 31200,
                "phase": "train",
                "comms": [{"comm": "dp_0", "enqueued": 4711, "started": 4711, "completed": 4710}],
            },
        ],
    },
    request_only=True,
)


class ProgressViewSet(RecordViewSet):
    """Live progress of one attempt."""

    rate_limited = False  # thousands of nodes report with one token

    needs = {"POST": Capability.REGISTER_JOBS}
    queryset = LiveState.objects.none()
    serializer_class = TakenSerializer
    pagination_class = None

    @takes(ProgressSerializer, gives={200: TakenSerializer}, examples=[_REPORTS])
    def create(self, request: Request, attempt: int) -> Response:
        """Report how far ranks are: all of them in one call, or each host its own.

        Sending the same again changes nothing. One bad value refuses the whole call; `errors`
        points at each.
        """
        found = record_of(selectors.attempts(), attempt)
        try:
            batch = read_reports(request.data)
        except BadReports as error:
            raise _refusal(error) from error
        return Response(self.shown(take_reports(actor=self.actor, attempt=found, batch=batch)))


def _refusal(error: BadReports) -> Problem:
    errors = [{"detail": text, "pointer": pointer(*place)} for place, text in error.errors]
    more = "" if len(errors) > 1 else errors[0]["detail"]
    return Problem("invalid-input", more or f"{len(errors)} values cannot be taken.", errors=errors)


class WatchViewSet(RecordViewSet):
    """What the watch last saw of one attempt."""

    queryset = JobWatch.objects.all()
    serializer_class = WatchSerializer
    pagination_class = None

    @gives(WatchSerializer)
    def retrieve(self, request: Request, attempt: int) -> Response:
        """Verdict, coverage and freshness; 404 for an attempt that was never watched."""
        record_of(selectors.attempts(), attempt)
        return Response(self.shown(record_of(self.get_queryset(), attempt)))
