"""Every address below `/api/v1/` that the records answer."""

from collections.abc import Mapping

from django.urls import URLPattern, path

from incidents.api.viewsets.base import RecordViewSet
from incidents.api.viewsets.decisions import DecisionsOfRecommendationViewSet, DecisionViewSet
from incidents.api.viewsets.diagnoses import (
    DiagnosesOfIncidentViewSet,
    DiagnosisViewSet,
    RecommendationViewSet,
    SuspectViewSet,
)
from incidents.api.viewsets.events import EventViewSet
from incidents.api.viewsets.evidence import EvidenceOfIncidentViewSet, EvidenceViewSet
from incidents.api.viewsets.incidents import IncidentViewSet, NotesViewSet
from incidents.api.viewsets.jobs import (
    AttemptsOfJobViewSet,
    AttemptViewSet,
    JobViewSet,
    PlacementViewSet,
)
from incidents.api.viewsets.problems import ProblemKindViewSet
from incidents.api.viewsets.tokens import MeViewSet, TokenViewSet
from incidents.api.viewsets.topology import ClusterViewSet, HostViewSet

app_name = "api"

_LIST = {"get": "list"}
_LIST_AND_CREATE = {"get": "list", "post": "create"}
_ONE = {"get": "retrieve"}
_ONE_TO_CHANGE = {"get": "retrieve", "patch": "partial_update"}


def _at(
    route: str, viewset: type[RecordViewSet], actions: Mapping[str, str], name: str
) -> URLPattern:
    return path(route, viewset.as_view(dict(actions)), name=name)


urlpatterns = [
    _at("me", MeViewSet, _ONE, "me"),
    _at("clusters", ClusterViewSet, _LIST, "clusters"),
    _at("hosts", HostViewSet, _LIST, "hosts"),
    _at("hosts/<int:pk>", HostViewSet, _ONE_TO_CHANGE, "host"),
    _at("jobs", JobViewSet, _LIST_AND_CREATE, "jobs"),
    _at("jobs/<int:pk>", JobViewSet, _ONE, "job"),
    _at("jobs/<int:job>/attempts", AttemptsOfJobViewSet, _LIST_AND_CREATE, "attempts"),
    _at("attempts/<int:pk>", AttemptViewSet, _ONE_TO_CHANGE, "attempt"),
    _at(
        "attempts/<int:attempt>/placement",
        PlacementViewSet,
        {"get": "retrieve", "put": "update"},
        "placement",
    ),
    _at("incidents", IncidentViewSet, _LIST_AND_CREATE, "incidents"),
    _at("incidents/<int:pk>", IncidentViewSet, _ONE_TO_CHANGE, "incident"),
    _at("incidents/<int:incident>/notes", NotesViewSet, {"post": "create"}, "notes"),
    _at(
        "incidents/<int:incident>/evidence",
        EvidenceOfIncidentViewSet,
        _LIST_AND_CREATE,
        "evidence-of-incident",
    ),
    _at("evidence/<int:pk>", EvidenceViewSet, _ONE_TO_CHANGE, "evidence"),
    _at("evidence/<int:pk>/content", EvidenceViewSet, {"get": "content"}, "evidence-content"),
    _at(
        "incidents/<int:incident>/diagnoses",
        DiagnosesOfIncidentViewSet,
        _LIST_AND_CREATE,
        "diagnoses-of-incident",
    ),
    _at("diagnoses/<int:pk>", DiagnosisViewSet, _ONE, "diagnosis"),
    _at("suspects", SuspectViewSet, _LIST, "suspects"),
    _at("suspects/<int:pk>", SuspectViewSet, _ONE, "suspect"),
    _at("recommendations", RecommendationViewSet, _LIST, "recommendations"),
    _at("recommendations/<int:pk>", RecommendationViewSet, _ONE, "recommendation"),
    _at(
        "recommendations/<int:recommendation>/decisions",
        DecisionsOfRecommendationViewSet,
        _LIST_AND_CREATE,
        "decisions-of-recommendation",
    ),
    _at("decisions", DecisionViewSet, _LIST, "decisions"),
    _at("decisions/<int:pk>", DecisionViewSet, _ONE_TO_CHANGE, "decision"),
    _at("events", EventViewSet, _LIST, "events"),
    _at("tokens", TokenViewSet, _LIST_AND_CREATE, "tokens"),
    _at("tokens/<int:pk>", TokenViewSet, {"get": "retrieve", "delete": "destroy"}, "token"),
    _at("problems", ProblemKindViewSet, _LIST, "problems"),
    _at("problems/<slug:code>", ProblemKindViewSet, _ONE, "problem"),
]
