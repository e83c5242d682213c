"""What the whole fleet does together: is it the fabric that makes a job slow?"""

import pytest

from diagnosis.degradation.answers import FleetShift
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.fleet_events import congestion

ONSET, NOW = 1000.0, 1600.0


def metrics_of(shift: FleetShift) -> tuple[str, ...]:
    return congestion([shift], Catalogue.default(), onset=ONSET, now=NOW)


def test_counters_of_all_hosts_that_rose_with_the_slowdown_tell_of_congestion() -> None:
    assert metrics_of(FleetShift("ecn_cnp_s", 950.0, None, 5.0)) == ("ecn_cnp_s",)


@pytest.mark.parametrize(
    "shift",
    [
        FleetShift("ecn_cnp_s", 950.0, None, 5.0, hosts=("a", "b", "c")),
        FleetShift("ecn_cnp_s", 1400.0, None, 5.0),
        FleetShift("ecn_cnp_s", 950.0, 1100.0, 5.0),
        FleetShift("gpu_temp_c", 950.0, None, 0.2),
    ],
    ids=["of a group", "after the slowdown", "over for long", "of another kind"],
)
def test_other_shifts_do_not(shift: FleetShift) -> None:
    assert metrics_of(shift) == ()
