"""Pictures of a diagnosis, embedded by the incident's page by name."""

from django.urls import path

from diagnosis.views.pictures import progress

app_name = "diagnosis"

urlpatterns = [
    path("diagnoses/<int:pk>/progress", progress, name="progress"),
]
