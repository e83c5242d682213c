"""Which device of a host it is."""

import numpy as np

from diagnosis.core.metrics import MetricWindow
from diagnosis.degradation.devices import DeviceRule

ONSET = 100.0


def window(*changes: float, host: str = "node-1") -> MetricWindow:
    """One metric of a host's NICs, each higher by its change from the onset on."""
    time = np.arange(0.0, 200.0, 10.0)
    values = np.array([[10.0 + (time >= ONSET) * change for change in changes]], np.float32)
    names = tuple(f"mlx5_{number}" for number in range(len(changes)))
    return MetricWindow(values, ("ecn_cnp_s",), (host,) * len(changes), time, names)


def test_the_device_that_changed_is_named():
    assert DeviceRule()(window(0, 500, 1), ONSET) == {("node-1", "ecn_cnp_s"): "mlx5_1"}


def test_devices_that_changed_alike_are_not():
    assert DeviceRule()(window(400, 500), ONSET) == {}


def test_a_host_whose_devices_did_not_change_names_none():
    assert DeviceRule()(window(0, 0), ONSET) == {}


def test_a_window_that_begins_after_the_onset_names_none():
    assert DeviceRule()(window(0, 500).between(120, 200), ONSET) == {}


def test_a_device_without_values_is_passed_over():
    found = window(300, 0)
    found.values[0, 1] = np.nan

    assert DeviceRule()(found, ONSET) == {("node-1", "ecn_cnp_s"): "mlx5_0"}
