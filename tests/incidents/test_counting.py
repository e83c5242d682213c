"""What figures count of incidents, as the database computes it."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from incidents.figures.incidents import Counted
from incidents.models import Incident, Reckoning
from incidents.selectors.counting import count
from tests.factories import IncidentFactory

pytestmark = pytest.mark.django_db

BEGAN = datetime(2026, 3, 2, 3, tzinfo=UTC)
NOW = BEGAN + timedelta(hours=10)
MINUTE = timedelta(minutes=1)
CLOSE = 0.001  # s: as near as SQLite's Julian days come


def counted(*, decided_at: datetime | None = None, **given: object) -> Counted:
    """The columns of an incident that began at `BEGAN` on eight GPUs, as it is counted."""
    incident = IncidentFactory(**{"opened_at": BEGAN, "gpu_count": 8, **given})
    if decided_at:
        Reckoning.objects.create(incident=incident, decided_at=decided_at)
    return count(Incident.objects.all(), now=NOW)


def test_time_lost_to_diagnosis_ends_with_the_first_decision() -> None:
    found = counted(decided_at=BEGAN + 12 * MINUTE, mitigated_at=BEGAN + 90 * MINUTE)

    assert found.lost_s == pytest.approx(12 * 60, abs=CLOSE)


def test_mitigation_is_a_decision_where_there_is_no_other() -> None:
    assert counted(mitigated_at=BEGAN + 9 * MINUTE).lost_s == pytest.approx(540, abs=CLOSE)


def test_it_begins_with_the_onset_and_not_with_the_report() -> None:
    found = counted(onset_at=BEGAN - 5 * MINUTE, decided_at=BEGAN + MINUTE)

    assert (found.lost_s, found.detect_s) == pytest.approx((360, 300), abs=CLOSE)


def test_an_incident_that_waits_loses_time_until_now() -> None:
    assert counted().lost_s == pytest.approx(10 * 3600, abs=CLOSE)


def test_gpus_stand_idle_until_they_get_other_work() -> None:
    found = counted(gpus_freed_at=BEGAN + 30 * MINUTE, mitigated_at=BEGAN + 300 * MINUTE)

    assert found.idle_s == pytest.approx(1800, abs=CLOSE)


def test_what_has_not_happened_is_not_known() -> None:
    found = counted()

    unknown = (found.detect_s, found.acknowledge_s, found.resolve_s, found.right)
    assert np.isnan(unknown).all()


def test_instants_are_seconds_since_1970() -> None:
    assert counted().opened == pytest.approx(BEGAN.timestamp(), abs=CLOSE)
