"""Pictures and the watch, embedded by pages by name; versions of rules; checks of hosts."""

from django.urls import path

from diagnosis.views import checks, offline, suites
from diagnosis.views.archives import inner_lines
from diagnosis.views.demo import demo
from diagnosis.views.pictures import metrics, progress
from diagnosis.views.versions import version
from diagnosis.views.watch import live, watch

app_name = "diagnosis"

urlpatterns = [
    path("diagnoses/<int:pk>/progress", progress, name="progress"),
    path("diagnoses/<int:pk>/metrics", metrics, name="metrics"),
    path("evidence/<int:pk>/inside", inner_lines, name="inner-lines"),
    path("jobs/<int:pk>/watch", watch, name="watch"),
    path("attempts/<int:pk>/live", live, name="live"),
    path("demo", demo, name="demo"),
    path("taxonomy/<slug:name>", version, name="taxonomy-version"),
    path("checks", checks.checks, name="checks"),
    path("checks/start", checks.start, name="start-check"),
    path("checks/suites", suites.suites, name="suites"),
    path("checks/suites/<slug:code>", suites.suite, name="suite"),
    path("checks/suites/<slug:code>/restore/<int:version>", suites.restore, name="restore-suite"),
    path("checks/<int:pk>", checks.check, name="check"),
    path("checks/<int:pk>.csv", checks.export, name="export-check"),
    path("checks/<int:pk>.json", checks.export_json, name="export-check-json"),
    path("checks/<int:pk>/repeat", checks.repeat, name="repeat-check"),
    path("checks/<int:pk>/cancel", checks.cancel, name="cancel-check"),
    path("offline", offline.diagnoses, name="offline-list"),
    path("offline/start", offline.start, name="start-offline"),
    path("offline/<int:pk>", offline.diagnosis, name="offline"),
    path("offline/<int:pk>/cancel", offline.cancel, name="cancel-offline"),
    path("offline/<int:pk>/answer", offline.answer, name="answer-offline"),
]
