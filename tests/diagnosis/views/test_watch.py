"""What the job's page shows of the watch, and the incident's page of a slowdown."""

import pytest
from django.test import Client
from django.utils import timezone

from diagnosis.models import JobWatch, MetricPicture, WatchVerdict
from diagnosis.readers.progress_reports import read_reports
from diagnosis.services.progress import take_reports
from incidents.models import Attempt
from tests.diagnosis.watched import ROBOT
from tests.factories import AttemptFactory, DiagnosisFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer() -> Client:
    client = Client()
    client.force_login(UserFactory())
    return client


@pytest.fixture
def attempt() -> Attempt:
    made: Attempt = AttemptFactory()
    return made


def watch_of(attempt: Attempt, **more: object) -> JobWatch:
    return JobWatch.objects.create(attempt=attempt, next_due_at=timezone.now(), **more)


def shown(viewer: Client, attempt: Attempt) -> str:
    return viewer.get(f"/jobs/{attempt.job_id}/watch").content.decode()


def test_a_job_that_nobody_watches_says_so(viewer: Client, attempt: Attempt):
    assert "No attempt of this job is under watch" in shown(viewer, attempt)


def test_verdict_and_coverage_are_shown(viewer: Client, attempt: Attempt):
    watch_of(
        attempt,
        verdict=WatchVerdict.HEALTHY,
        summary="No host has left its peers.",
        judged_at=timezone.now(),
        coverage={"hosts": {"expected": 64, "reported": 63}, "notes": ["silent hosts: node-9"]},
    )

    page = shown(viewer, attempt)

    assert "No host has left its peers." in page
    assert "63 of 64 hosts" in page
    assert "silent hosts: node-9" in page


def test_a_source_that_fails_is_shown_with_its_reason_and_since_when(
    viewer: Client, attempt: Attempt
):
    watch_of(
        attempt,
        verdict=WatchVerdict.CANNOT_TELL,
        error="The metric source prometheus fails: HTTP 503",
        error_since=timezone.now(),
    )

    page = shown(viewer, attempt)

    assert "The watch cannot see" in page
    assert "HTTP 503" in page
    assert "since" in page


def test_progress_by_rank_is_drawn_with_its_table(viewer: Client, attempt: Attempt):
    reports = [
        {"rank": rank, "comms": [{"comm": "dp_0", "enqueued": 40 + rank, "completed": 40}]}
        for rank in range(4)
    ]
    batch = read_reports({"time": timezone.now().timestamp(), "reports": reports})
    take_reports(actor=ROBOT, attempt=attempt, batch=batch)

    page = viewer.get(f"/attempts/{attempt.pk}/live").content.decode()

    assert "Progress by rank" in page
    assert "<td>rank 3</td>" in page


def test_an_attempt_without_reports_has_no_picture(viewer: Client, attempt: Attempt):
    assert viewer.get(f"/attempts/{attempt.pk}/live").status_code == 204


def test_a_slowdown_is_drawn_with_its_tables(viewer: Client):
    run = DiagnosisFactory(done=True)
    times = [1e9 + 15 * n for n in range(200)]
    band = {
        "host": "node-3",
        "device": "mlx5_1",
        "metric": "ecn_cnp_s",
        "unit": "1/s",
        "onset": times[100],
        "peers": 11,
        "time": times,
        **{name: [1.0] * 200 for name in ("low", "middle", "high")},
        "value": [None] * 100 + [23456.7] * 100,
    }
    pace = {
        "time": times,
        "seconds": [4.0] * 100 + [5.04] * 100,
        "onset": times[100],
        "before": 4.0,
        "after": 5.04,
    }
    MetricPicture.objects.create(diagnosis=run, data={"metrics": [band], "pace": pace})

    page = viewer.get(f"/diagnoses/{run.pk}/metrics").content.decode()

    assert "26% longer" in page
    assert "23,457" in page
    assert "no value" in page
    assert page.count("<tr>") < 100


def test_what_changed_and_which_hosts_moved_are_told_in_tables(viewer: Client):
    run = DiagnosisFactory(done=True)
    shift = {
        "host": "node-3",
        "device": None,
        "metric": "gpu_clock_mhz",
        "unit": "MHz",
        "before": 1700.0,
        "after": 1360.0,
        "peers": 1698.0,
        "deviations": -31.4,
    }
    cells = {
        "hosts": ["node-3", "node-1"],
        "metrics": ["gpu_clock_mhz", "gpu_temp_c"],
        "cells": [[31.0, None], [-5.2, 0.4]],
        "others": 62,
    }
    data = {"metrics": [], "pace": None, "shifts": [shift], "map": cells}
    MetricPicture.objects.create(diagnosis=run, data=data)

    page = viewer.get(f"/diagnoses/{run.pk}/metrics").content.decode()

    assert "-20 %" in page
    assert "1,360" in page
    assert 'data-level="3">+31</td>' in page
    assert 'data-level="0">-5</td>' in page
    assert "62 calmer hosts" in page


def test_a_diagnosis_without_metrics_has_no_picture(viewer: Client):
    assert viewer.get(f"/diagnoses/{DiagnosisFactory(done=True).pk}/metrics").status_code == 204
