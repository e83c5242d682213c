"""Every address below `/api/v1/` that the diagnosis answers."""

from typing import Any

from django.urls import path

from diagnosis.api.progress import ProgressViewSet, WatchViewSet
from diagnosis.api.viewsets import (
    FaultTypeViewSet,
    ProgressPictureViewSet,
    SignatureViewSet,
    TaxonomyVersionViewSet,
    TaxonomyViewSet,
)

app_name = "diagnosis-api"

_LIST: dict[str, Any] = {"get": "list"}
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
    path("attempts/<int:attempt>/watch", WatchViewSet.as_view(_ONE), name="watch"),
]
