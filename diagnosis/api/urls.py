"""Every address below `/api/v1/` that the diagnosis answers."""

from typing import Any

from django.urls import path

from diagnosis.api.checks import (
    CheckRunnerViewSet,
    CheckRunViewSet,
    CheckSuiteViewSet,
    CheckTaskViewSet,
)
from diagnosis.api.offline import OfflineDiagnosisViewSet
from diagnosis.api.progress import ProgressViewSet, WatchViewSet
from diagnosis.api.topology import TopologyViewSet
from diagnosis.api.viewsets import (
    FaultTypeViewSet,
    ProgressPictureViewSet,
    SignatureViewSet,
    TaxonomyVersionViewSet,
    TaxonomyViewSet,
)

app_name = "diagnosis-api"

_LIST: dict[str, Any] = {"get": "list"}
_LIST_AND_CREATE: dict[str, Any] = {"get": "list", "post": "create"}
_ONE: dict[str, Any] = {"get": "retrieve"}

urlpatterns = [
    path("taxonomy", TaxonomyViewSet.as_view(_ONE), name="taxonomy"),
    path("taxonomy/fault-types", FaultTypeViewSet.as_view(_LIST), name="fault-types"),
    path("taxonomy/fault-types/<str:code>", FaultTypeViewSet.as_view(_ONE), name="fault-type"),
    path("taxonomy/signatures", SignatureViewSet.as_view(_LIST), name="signatures"),
    path("taxonomy/signatures/<str:code>", SignatureViewSet.as_view(_ONE), name="signature"),
    path("taxonomy/versions", TaxonomyVersionViewSet.as_view(_LIST), name="taxonomy-versions"),
    path(
        "taxonomy/versions/<int:pk>",
        TaxonomyVersionViewSet.as_view(_ONE),
        name="taxonomy-version",
    ),
    path(
        "diagnoses/<int:diagnosis>/pictures/collective-progress",
        ProgressPictureViewSet.as_view(_ONE),
        name="collective-progress",
    ),
    path(
        "attempts/<int:attempt>/progress",
        ProgressViewSet.as_view({"post": "create"}),
        name="progress",
    ),
    path(
        "offline-diagnoses",
        OfflineDiagnosisViewSet.as_view(_LIST_AND_CREATE),
        name="offline-diagnoses",
    ),
    path(
        "offline-diagnoses/<int:pk>",
        OfflineDiagnosisViewSet.as_view(_ONE),
        name="offline-diagnosis",
    ),
    path(
        "offline-diagnoses/<int:pk>/rounds/<int:number>",
        OfflineDiagnosisViewSet.as_view({"post": "answer"}),
        name="offline-round",
    ),
    path(
        "offline-diagnoses/<int:pk>/cancel",
        OfflineDiagnosisViewSet.as_view({"post": "cancel"}),
        name="offline-cancel",
    ),
    path("topology", TopologyViewSet.as_view({"post": "create"}), name="topology"),
    path("check-suites", CheckSuiteViewSet.as_view(_LIST_AND_CREATE), name="check-suites"),
    path("check-runs", CheckRunViewSet.as_view(_LIST_AND_CREATE), name="check-runs"),
    path("check-runs/<int:pk>", CheckRunViewSet.as_view(_ONE), name="check-run"),
    path(
        "check-runs/<int:pk>/repeat",
        CheckRunViewSet.as_view({"post": "repeat"}),
        name="check-run-repeat",
    ),
    path(
        "check-runs/<int:pk>/cancel",
        CheckRunViewSet.as_view({"post": "cancel"}),
        name="check-run-cancel",
    ),
    path("check-runners", CheckRunnerViewSet.as_view(_LIST_AND_CREATE), name="check-runners"),
    path(
        "check-runners/<int:pk>/tasks",
        CheckRunnerViewSet.as_view({"post": "claim"}),
        name="check-runner-tasks",
    ),
    path(
        "check-tasks/<int:pk>/output",
        CheckTaskViewSet.as_view({"post": "output"}),
        name="check-task-output",
    ),
    path("attempts/<int:attempt>/watch", WatchViewSet.as_view(_ONE), name="watch"),
]
