"""The demo's stories."""

import pytest
from django.utils import timezone

from diagnosis.models import CheckRun, OfflineDiagnosis
from diagnosis.services import demo, demo_checks
from diagnosis.tasks import load_demo
from incidents.models import Incident

pytestmark = pytest.mark.django_db


def test_each_story_is_an_incident_with_evidence_and_a_place() -> None:
    found = list(demo.fill(now=timezone.now()))

    assert len(found) == len(demo.STORIES)
    assert all(one.evidence.exists() for one in found)
    assert all(one.attempt and one.attempt.placements.exists() for one in found)


def test_it_is_not_told_twice() -> None:
    list(demo.fill(now=timezone.now()))
    before = Incident.objects.count()

    load_demo()

    assert Incident.objects.count() == before


def test_repaired_hosts_are_checked_and_an_offline_diagnosis_is_under_way() -> None:
    list(demo.fill(now=timezone.now()))

    run = CheckRun.objects.get()
    held = run.hosts.filter(decision="hold").values_list("host__name", flat=True)
    assert set(held) == {"node-105", "node-107"}
    assert run.hosts.filter(decision="deliver").count() == len(demo_checks.REPAIRED) - 2
    offline = OfflineDiagnosis.objects.get()
    assert (len(offline.rounds), offline.rounds[-1]["results"]) == (2, None)
