"""Two hours of a small fleet in OpenMetrics: healthy series, and each trouble of real ones."""

import math
from collections.abc import Callable

from tests.prometheus_server import OpenMetrics

#: 2025-06-01 00:00 UTC, a multiple of every step used here.
START = 1_748_736_000.0
MINUTE = 60.0
SCRAPE = 15.0
HOSTS = ("node-01", "node-02", "node-03", "node-04")
ODD_HOST = 'we"ird\\host+(1)'
BLANK = "9223372036854775794"


def every(
    value: Callable[[float], float | str], *, first: float = 0.0, last: float = 120 * MINUTE
) -> list[tuple[float, float | str]]:
    """A sample a scrape from `first` to `last` seconds after START."""
    count = int((last - first) / SCRAPE) + 1
    offsets = (first + number * SCRAPE for number in range(count))
    return [(START + offset, value(offset)) for offset in offsets]


def constant(value: float | str) -> Callable[[float], float | str]:
    return lambda _: value


def rising(rate: float, *, reset_at: float = math.inf) -> Callable[[float], float]:
    """A counter that grows by `rate` a second, and begins anew at `reset_at`."""
    return lambda at: rate * (at if at < reset_at else at - reset_at)


def backfilled_fleet() -> OpenMetrics:
    """The series that the tests of this folder speak of, each named where it is added."""
    metrics = OpenMetrics()
    _gpus(metrics)
    _nics(metrics)
    _hosts(metrics)
    _cloud(metrics)
    return metrics


def _gpus(metrics: OpenMetrics) -> None:
    for host in HOSTS:
        # node-04's exporter died at minute 30, without a staleness marker.
        last = 30 * MINUTE if host == "node-04" else 120 * MINUTE
        for gpu in ("0", "1"):
            labels = {"Hostname": f"{host.upper()}.cluster.local", "gpu": gpu}
            labels["instance"] = f"{host}:9400"
            clock = 1200 if (host, gpu) == ("node-02", "1") else 1980
            metrics.add("DCGM_FI_DEV_SM_CLOCK", labels, every(constant(clock), last=last))
            # A newer exporter on node-02 writes the new name.
            name = "DCGM_FI_DEV_GPU_TEMP" + ("_CELSIUS" if host == "node-02" else "")
            metrics.add(name, labels, every(constant(61), last=last))
            # No GPU of this kind can tell the activity of its multiprocessors.
            metrics.add("DCGM_FI_PROF_SM_ACTIVE", labels, every(constant(BLANK), last=last))
    first = {"Hostname": "node-01", "gpu": "0", "instance": "node-01:9400"}
    blank_in_between = every(lambda at: BLANK if 600 <= at < 900 else 84)
    metrics.add("DCGM_FI_DEV_MEMORY_TEMP", first, blank_in_between)
    errors_with_blank = every(lambda at: BLANK if at == 600 else 500)
    metrics.add("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", first, errors_with_blank)
    metrics.add("DCGM_FI_DEV_POWER_USAGE", first, every(lambda at: "NaN" if at < 600 else 650))
    metrics.add("DCGM_FI_DEV_XID_ERRORS", first, every(lambda at: 0 if at < 3600 else 79))


def _nics(metrics: OpenMetrics) -> None:
    for host in HOSTS:
        for nic in ("mlx5_0", "mlx5_1"):
            labels = {"instance": f"{host}:9100", "device": nic, "port": "1"}
            # node-03 rebooted at minute 40: its counters begin anew.
            reset = 40 * MINUTE if host == "node-03" else math.inf
            sent = every(rising(5e9, reset_at=reset))
            metrics.add("node_infiniband_port_data_transmitted_bytes_total", labels, sent)
    labels = {"instance": "node-01:9100", "device": "mlx5_0", "port": "1"}
    for name, rate in (("local_ack_timeout_errors", 2), ("packet_sequence_errors", 3)):
        metrics.add(f"node_infiniband_{name}_total", labels, every(rising(rate)))


def _hosts(metrics: OpenMetrics) -> None:
    for host in HOSTS:
        for cpu in ("0", "1"):
            labels = {"instance": f"{host}:9100", "cpu": cpu, "mode": "idle"}
            metrics.add("node_cpu_seconds_total", labels, every(rising(0.75)))
        # A network outage kept node-02 unscraped from minute 50 to 60.
        before = every(rising(1000), last=50 * MINUTE)
        after = every(rising(1000), first=60 * MINUTE)
        switches = before + after if host == "node-02" else every(rising(1000))
        metrics.add("node_context_switches_total", {"instance": f"{host}:9100"}, switches)
    # A second job scrapes node-01 as well.
    twice = {"instance": "node-01:9100", "job": "again"}
    metrics.add("node_context_switches_total", twice, every(rising(7000)))
    odd = {"instance": f"{ODD_HOST}:9100"}
    metrics.add("node_context_switches_total", odd, every(rising(2000)))
    sixteenth = {"instance": "[fd00::16]:9100"}
    metrics.add("node_context_switches_total", sixteenth, every(rising(3000)))


def _cloud(metrics: OpenMetrics) -> None:
    """Hosts that are scraped by address; two of them behind one."""
    addresses = {"cloud-1": 11, "cloud-2": 12, "twin-1": 20, "twin-2": 20}
    for host, last in addresses.items():
        labels = {"instance": f"10.0.0.{last}:9100", "nodename": f"{host}.internal"}
        metrics.add("node_uname_info", labels, every(constant(1)))
    switches = {"instance": "10.0.0.11:9100"}
    metrics.add("node_context_switches_total", switches, every(rising(4000)))
