"""Every address below `/api/v1/` that the records answer."""

from incidents.api.addresses import LIST, LIST_AND_CREATE, ONE, ONE_TO_CHANGE, at
from incidents.api.outward_urls import outward
from incidents.api.viewsets.by_external import ByExternalIdViewSet
from incidents.api.viewsets.decisions import DecisionsOfRecommendationViewSet, DecisionViewSet
from incidents.api.viewsets.diagnoses import (
    DiagnosesOfIncidentViewSet,
    DiagnosisViewSet,
    RecommendationViewSet,
    SuspectViewSet,
)
from incidents.api.viewsets.events import EventViewSet
from incidents.api.viewsets.evidence import EvidenceOfIncidentViewSet, EvidenceViewSet
from incidents.api.viewsets.executions import ExecutionViewSet
from incidents.api.viewsets.incidents import IncidentViewSet, NotesViewSet
from incidents.api.viewsets.jobs import (
    AttemptsOfJobViewSet,
    AttemptViewSet,
    JobViewSet,
    PlacementViewSet,
)
from incidents.api.viewsets.problems import ProblemKindViewSet
from incidents.api.viewsets.reports import (
    FaultReportViewSet,
    OverTimeViewSet,
    RuleReportViewSet,
)
from incidents.api.viewsets.similar import SimilarViewSet
from incidents.api.viewsets.steps import BatchViewSet, IncidentStepsViewSet
from incidents.api.viewsets.tickets import (
    SavedViewViewSet,
    TicketsOfIncidentViewSet,
    TicketViewSet,
)
from incidents.api.viewsets.tokens import MeViewSet, TokenViewSet
from incidents.api.viewsets.topology import ClusterViewSet, HostViewSet

app_name = "api"

urlpatterns = [
    at("me", MeViewSet, ONE, "me"),
    at("clusters", ClusterViewSet, LIST, "clusters"),
    at("hosts", HostViewSet, LIST, "hosts"),
    at("hosts/<int:pk>", HostViewSet, ONE_TO_CHANGE, "host"),
    at("jobs", JobViewSet, LIST_AND_CREATE, "jobs"),
    at("jobs/<int:pk>", JobViewSet, ONE, "job"),
    at("jobs/<int:job>/attempts", AttemptsOfJobViewSet, LIST_AND_CREATE, "attempts"),
    at("attempts/<int:pk>", AttemptViewSet, ONE_TO_CHANGE, "attempt"),
    at(
        "attempts/<int:attempt>/placement",
        PlacementViewSet,
        {"get": "retrieve", "put": "update"},
        "placement",
    ),
    at("incidents", IncidentViewSet, LIST_AND_CREATE, "incidents"),
    at("incidents/<int:pk>", IncidentViewSet, ONE_TO_CHANGE, "incident"),
    at("incidents/<int:pk>/merge", IncidentStepsViewSet, {"post": "merge"}, "merge"),
    at("incidents/<int:pk>/unmerge", IncidentStepsViewSet, {"post": "unmerge"}, "unmerge"),
    at("incidents/<int:pk>/split", IncidentStepsViewSet, {"post": "split"}, "split"),
    at(
        "incidents/<int:pk>/snooze",
        IncidentStepsViewSet,
        {"post": "snooze", "delete": "wake"},
        "snooze",
    ),
    at("incidents/<int:incident>/similar", SimilarViewSet, {"get": "list"}, "similar"),
    at("incidents/<int:incident>/tickets", TicketsOfIncidentViewSet, LIST_AND_CREATE, "tickets"),
    at("tickets/<int:pk>", TicketViewSet, {"get": "retrieve", "delete": "destroy"}, "ticket"),
    at("batches", BatchViewSet, {"post": "create"}, "batches"),
    at("batches/<int:pk>", BatchViewSet, ONE, "batch"),
    at("batches/<int:pk>/undo", BatchViewSet, {"post": "undo"}, "undo-batch"),
    at("views", SavedViewViewSet, LIST_AND_CREATE, "views"),
    at("views/<int:pk>", SavedViewViewSet, {"get": "retrieve", "delete": "destroy"}, "view"),
    at(
        "incidents/by-external/<str:source>/<str:external_id>",
        ByExternalIdViewSet,
        {"get": "retrieve", "put": "update"},
        "incident-by-external",
    ),
    at("incidents/<int:incident>/notes", NotesViewSet, {"post": "create"}, "notes"),
    at(
        "incidents/<int:incident>/evidence",
        EvidenceOfIncidentViewSet,
        LIST_AND_CREATE,
        "evidence-of-incident",
    ),
    at("evidence/<int:pk>", EvidenceViewSet, ONE_TO_CHANGE, "evidence"),
    at("evidence/<int:pk>/content", EvidenceViewSet, {"get": "content"}, "evidence-content"),
    at(
        "incidents/<int:incident>/diagnoses",
        DiagnosesOfIncidentViewSet,
        LIST_AND_CREATE,
        "diagnoses-of-incident",
    ),
    at("diagnoses/<int:pk>", DiagnosisViewSet, ONE, "diagnosis"),
    at("suspects", SuspectViewSet, LIST, "suspects"),
    at("suspects/<int:pk>", SuspectViewSet, ONE, "suspect"),
    at("recommendations", RecommendationViewSet, LIST, "recommendations"),
    at("recommendations/<int:pk>", RecommendationViewSet, ONE, "recommendation"),
    at(
        "recommendations/<int:recommendation>/decisions",
        DecisionsOfRecommendationViewSet,
        LIST_AND_CREATE,
        "decisions-of-recommendation",
    ),
    at(
        "recommendations/<int:recommendation>/execution",
        ExecutionViewSet,
        {"post": "plan"},
        "execution-plan",
    ),
    at("executions", ExecutionViewSet, LIST, "executions"),
    at("executions/<int:pk>", ExecutionViewSet, ONE, "execution"),
    at("executions/<int:pk>/run", ExecutionViewSet, {"post": "run"}, "execution-run"),
    at("decisions", DecisionViewSet, LIST, "decisions"),
    at("decisions/<int:pk>", DecisionViewSet, ONE_TO_CHANGE, "decision"),
    at("decisions/<int:pk>/undo", DecisionViewSet, {"post": "undo"}, "undo-decision"),
    at("events", EventViewSet, LIST, "events"),
    at("tokens", TokenViewSet, LIST_AND_CREATE, "tokens"),
    at("tokens/<int:pk>", TokenViewSet, {"get": "retrieve", "delete": "destroy"}, "token"),
    at("reports/over-time", OverTimeViewSet, ONE, "report-over-time"),
    at("reports/faults", FaultReportViewSet, LIST, "report-faults"),
    at("reports/rules", RuleReportViewSet, LIST, "report-rules"),
    *outward,
    at("problems", ProblemKindViewSet, LIST, "problems"),
    at("problems/<slug:code>", ProblemKindViewSet, ONE, "problem"),
]
