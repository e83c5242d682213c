"""Whether an attempt got past the point where the one before it broke."""

from datetime import UTC, datetime, timedelta

import pytest

from incidents.figures.aftermath import Course, passed

BEGAN = datetime(2026, 3, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)
BROKEN = Course(BEGAN, BEGAN + 5 * HOUR, "failed")


@pytest.mark.parametrize(
    ("hours", "outcome", "got_further"),
    [
        (4, "failed", True),
        (2, "failed", False),
        (2, "running", None),
        (4, "running", True),
        (1, "completed", True),
        (2, "cancelled", False),
    ],
)
def test_it_passes_the_point_of_failure_by_running_longer_or_to_the_end(
    hours: int, outcome: str, got_further: bool | None
) -> None:
    after = Course(BEGAN + 6 * HOUR, BEGAN + (6 + hours) * HOUR, outcome)

    assert passed(BEGAN + 3 * HOUR, BROKEN, after) is got_further
