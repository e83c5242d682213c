"""Reports: whether it works, as the reports page shows it."""

from datetime import date

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from incidents import selectors
from incidents.api.describing import gives, query
from incidents.api.filters import refuse_unknown
from incidents.api.problems import InvalidQuery
from incidents.api.serializers.reports import (
    FaultFiguresSerializer,
    OverTimeSerializer,
    RuleRecordSerializer,
)
from incidents.api.viewsets.base import RecordViewSet
from incidents.figures.report import Report
from incidents.figures.tables import fault_row, precision_row, step_row
from incidents.forms import ReportForm

_PARAMETERS = [
    query("cluster", str, "Only this cluster."),
    query("owner", str, "Only jobs of this owner."),
    query("fault", str, "Only incidents whose answer names this fault first."),
    query("since", date, "First day (UTC). Without it: four weeks to the last day."),
    query("until", date, "Last day (UTC), included. Without it: today."),
]


def _asked(request: Request) -> ReportForm:
    """The checked question. Raises `InvalidQuery` by parameter."""
    refuse_unknown(request, set(ReportForm.base_fields))
    form = ReportForm(request.query_params)
    if not form.is_valid():
        raise InvalidQuery(
            {name: [str(text) for text in texts] for name, texts in form.errors.items()}
        )
    return form


def _report(request: Request) -> Report:
    form = _asked(request)
    return selectors.report(form.scope(), form.period(), now=timezone.now())


class OverTimeViewSet(RecordViewSet):
    """Figures over time."""

    serializer_class = OverTimeSerializer
    pagination_class = None
    filter_backends = []

    @gives(OverTimeSerializer, parameters=_PARAMETERS)
    def retrieve(self, request: Request) -> Response:
        """The figures of a period, beside those of the time before, and step by step."""
        found = _report(request)
        steps = [step_row(step) for step in found.steps]
        total, before = step_row(found.total), step_row(found.before)
        return Response({"total": total, "before": before, "steps": steps})


class FaultReportViewSet(RecordViewSet):
    """Figures by fault."""

    serializer_class = FaultFiguresSerializer
    pagination_class = None
    filter_backends = []

    @gives(FaultFiguresSerializer(many=True), parameters=_PARAMETERS)
    def list(self, request: Request) -> Response:
        """The figures of each fault, the one that cost most GPU-hours first."""
        return Response([fault_row(row) for row in _report(request).faults])


class RuleReportViewSet(RecordViewSet):
    """Precision by rule."""

    serializer_class = RuleRecordSerializer
    pagination_class = None
    filter_backends = []

    @gives(RuleRecordSerializer(many=True), parameters=_PARAMETERS)
    def list(self, request: Request) -> Response:
        """How often each fault's signatures and each detector were right, by decided incidents."""
        form = _asked(request)
        found = selectors.rule_records(form.scope(), form.period())
        return Response([precision_row(one.kind, one.code, one.precision) for one in found])
