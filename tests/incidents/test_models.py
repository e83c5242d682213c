"""What records say of themselves."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import HostFactory, IncidentFactory, RecommendationFactory, SuspectFactory

pytestmark = pytest.mark.django_db

LABELS = [
    ({"target_kind": "gpu", "target_host": "node-017", "target_gpu": "3"}, "node-017 GPU 3"),
    ({"target_kind": "nic", "target_host": "node-1", "target_nic": "mlx5_0"}, "node-1 mlx5_0"),
    ({"target_kind": "rank", "target_host": "", "target_rank": 0}, "rank 0"),
    (
        {"target_kind": "link", "target_host": "node-1", "target_name": "node-1/mlx5_0"},
        "node-1/mlx5_0",
    ),
    ({"target_kind": "user-code", "target_host": "", "target_name": "train.py:7"}, "train.py:7"),
    ({"target_kind": "storage", "target_host": ""}, "Shared storage"),
]


@pytest.mark.parametrize(("fields", "label"), LABELS)
def test_a_target_is_named_in_a_few_words(fields: dict[str, object], label: str):
    assert SuspectFactory(**fields).target_label == label


ADVICE = [
    (
        {"action": "fix-code", "target_kind": "user-code", "target_name": "train.py:7"},
        "Fix code and tell the owner: train.py:7 (seen on node-001 rank 3)",
    ),
    (
        {"action": "fix-storage", "target_kind": "storage", "target_name": "10.0.9.1"},
        "Fix storage: 10.0.9.1 (seen on node-001 rank 3)",
    ),
    (
        {"action": "fix-config", "target_kind": "config", "target_name": "Driver mismatch"},
        "Fix configuration: Driver mismatch on node-001",
    ),
    ({"action": "isolate-host"}, "Isolate host: node-001"),
    ({"action": "restart-job", "target_kind": "job"}, "Restart job"),
]


@pytest.mark.parametrize(("fields", "label"), ADVICE)
def test_advice_names_what_someone_acts_on(fields: dict[str, object], label: str):
    assert str(RecommendationFactory(target_rank=3, **fields)) == label


def test_a_gpu_known_by_uuid_stays_text():
    assert SuspectFactory(target_gpu="GPU-0a1b").target["gpu"] == "GPU-0a1b"


def test_gpu_hours_run_from_the_onset_to_the_mitigation():
    onset = datetime(2025, 3, 1, tzinfo=UTC)
    incident = IncidentFactory(
        gpu_count=64, onset_at=onset, mitigated_at=onset + timedelta(hours=2)
    )
    assert incident.gpu_hours_lost == 128


def test_a_renamed_host_is_found_by_its_new_name():
    host = HostFactory(name="node-1")
    host.name = "Node-2.example.org"
    host.save()
    assert host.normalised_name == "node-2"
