"""The tasks, with the real engine behind them."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from diagnosis.models import ProgressPicture
from diagnosis.tasks import run_diagnosis, sweep_diagnoses
from incidents import storage
from incidents.choices import DiagnosisState, ParseStatus
from incidents.models import Diagnosis
from incidents.services.evidence import attach_evidence
from tests.factories import DiagnosisFactory, actor

pytestmark = pytest.mark.django_db


def hand_in_folder(queued: Diagnosis, folder: Path) -> None:
    for path in sorted(folder.iterdir()):
        if path.is_file():
            with path.open("rb") as stream:
                attach_evidence(
                    actor=actor(), incident=queued.incident, name=path.name, stream=stream
                )


def test_a_recorded_hang_names_its_rank_with_proof_that_leads_to_the_file(cases: Path):
    queued = DiagnosisFactory()
    hand_in_folder(queued, cases / "flight_recorder" / "hang_compute")
    run_diagnosis(queued.pk)
    first = Diagnosis.objects.get(pk=queued.pk).suspects.get(position=1)
    assert (first.target_host, first.target_rank, first.role) == ("node-001", 3, "culprit")
    assert all(finding.evidence for finding in first.findings.all())
    assert ProgressPicture.objects.filter(pk=queued.pk).exists()


def test_a_run_without_any_evidence_ends_done_and_unknown():
    queued = DiagnosisFactory()
    run_diagnosis(queued.pk)
    queued.refresh_from_db()
    assert (queued.state, queued.verdict_class) == (DiagnosisState.DONE, "unknown")


def test_evidence_that_the_disk_lost_is_skipped_with_the_reason(tmp_path: Path):
    queued = DiagnosisFactory()
    (tmp_path / "node-1.dmesg.log").write_text("usb 1-1: new device\n")
    hand_in_folder(queued, tmp_path)
    lost = queued.incident.evidence.get()
    storage.path_of(lost.blob.sha256).unlink()
    run_diagnosis(queued.pk)
    lost.refresh_from_db()
    queued.refresh_from_db()
    assert (queued.state, lost.parse_status) == (DiagnosisState.DONE, ParseStatus.SKIPPED)
    assert "does not hold" in lost.parse_reason


def test_the_sweeper_queues_again_what_a_dead_worker_held():
    past = timezone.now() - timedelta(hours=1)
    held = DiagnosisFactory(running=True, lease_expires_at=past)
    sweep_diagnoses()
    held.refresh_from_db()
    assert held.state == DiagnosisState.QUEUED
