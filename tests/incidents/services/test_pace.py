"""Noting how fast an attempt went."""

from datetime import UTC, datetime

import pytest

from incidents.models import PaceHour
from incidents.services.pace import note_pace
from tests.factories import AttemptFactory

pytestmark = pytest.mark.django_db

HOUR = datetime(2026, 3, 2, 3, tzinfo=UTC)


def test_iterations_are_added_to_their_hours() -> None:
    attempt, at = AttemptFactory(), HOUR.timestamp()

    note_pace(attempt=attempt, times=[at + 60, at + 3700], seconds=[2.0, 3.0], counts=[30.0, 10.0])

    hours = PaceHour.objects.order_by("hour").values_list("iterations", "seconds")
    assert list(hours) == [(30.0, 60.0), (10.0, 30.0)]


def test_what_comes_later_within_an_hour_joins_it() -> None:
    attempt, at = AttemptFactory(), HOUR.timestamp()

    note_pace(attempt=attempt, times=[at + 60], seconds=[2.0], counts=[30.0])
    note_pace(attempt=attempt, times=[at + 120], seconds=[4.0], counts=[10.0])

    (row,) = PaceHour.objects.all()
    assert (row.iterations, row.seconds) == (40.0, 100.0)
    assert row.excess_s == pytest.approx(10 * (4.0 - 1.2 * 100 / 40))
