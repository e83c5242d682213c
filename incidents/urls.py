"""The addresses of the pages."""

from django.urls import path

from incidents.views import (
    aside,
    desk,
    evidence,
    incident,
    incident_changes,
    new_incident,
    places,
)

app_name = "incidents"

urlpatterns = [
    path("", desk.desk, name="desk"),
    path("incidents/change", desk.change_many, name="change-many"),
    path("incidents/new", new_incident.new, name="new"),
    path("incidents/<int:pk>", incident.incident, name="incident"),
    path("incidents/<int:pk>/evidence", evidence.upload, name="upload"),
    path("incidents/<int:pk>/acknowledge", incident_changes.acknowledge, name="acknowledge"),
    path("incidents/<int:pk>/assign", incident_changes.assign, name="assign"),
    path("incidents/<int:pk>/mitigate", incident_changes.mitigate, name="mitigate"),
    path("incidents/<int:pk>/resolve", incident_changes.resolve, name="resolve"),
    path("incidents/<int:pk>/reopen", incident_changes.reopen, name="reopen"),
    path("incidents/<int:pk>/correction", incident_changes.correction, name="correction"),
    path("incidents/<int:pk>/correct", incident_changes.correct, name="correct"),
    path("incidents/<int:pk>/note", incident_changes.note, name="note"),
    path("incidents/<int:pk>/diagnose", incident_changes.diagnose, name="diagnose"),
    path(
        "incidents/<int:pk>/recommendations/<int:recommendation>",
        incident_changes.decide,
        name="decide",
    ),
    path("evidence/<int:pk>/excerpt", evidence.lines, name="lines"),
    path("evidence/<int:pk>/use", aside.aside, name="aside"),
    path("evidence/<int:evidence>/change-use", aside.change_use, name="change-use"),
    path("evidence/<int:pk>/download", evidence.download, name="download"),
    path("jobs", places.jobs, name="jobs"),
    path("jobs/<int:pk>", places.job, name="job"),
    path("attempts/<int:pk>/placement", places.placement, name="placement"),
    path("hosts", places.hosts, name="hosts"),
    path("hosts/<int:pk>", places.host, name="host"),
    path("hosts/<int:pk>/state", places.host_state, name="host-state"),
]
