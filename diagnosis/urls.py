"""Pictures of a diagnosis and the watch over a job, embedded by pages by name; its rules."""

from django.urls import path

from diagnosis.views.pictures import metrics, progress
from diagnosis.views.versions import version
from diagnosis.views.watch import live, watch

app_name = "diagnosis"

urlpatterns = [
    path("diagnoses/<int:pk>/progress", progress, name="progress"),
    path("diagnoses/<int:pk>/metrics", metrics, name="metrics"),
    path("jobs/<int:pk>/watch", watch, name="watch"),
    path("attempts/<int:pk>/live", live, name="live"),
    path("taxonomy/<slug:name>", version, name="taxonomy-version"),
]
