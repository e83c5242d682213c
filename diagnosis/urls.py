"""Pictures of a diagnosis, embedded by the incident's page by name, and the rules it used."""

from django.urls import path

from diagnosis.views.pictures import progress
from diagnosis.views.versions import version

app_name = "diagnosis"

urlpatterns = [
    path("diagnoses/<int:pk>/progress", progress, name="progress"),
    path("taxonomy/<slug:name>", version, name="taxonomy-version"),
]
