"""What happens to rough fleets and is nobody's fault: the eight confounders and three more."""

from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.rough_load import Array, RoughFleet, course_of, plus_bursts, times_by

Event = Callable[[RoughFleet], None]


def _between(fleet: RoughFleet, start: float, length: float) -> Array:
    return ((fleet.elapsed >= start) & (fleet.elapsed < start + length)).astype(np.float64)


def _somewhere(fleet: RoughFleet, low: float = 0.05, high: float = 0.9) -> float:
    return float(fleet.random.uniform(low, high) * fleet.elapsed[-1])


def checkpoint_stall(fleet: RoughFleet) -> None:
    random = fleet.random
    period, length = random.uniform(500, 1500), random.uniform(20, 140)
    for start in np.arange(random.uniform(0, period), fleet.elapsed[-1], period):
        stall = _between(fleet, start, length)
        fleet.load *= 1 - random.uniform(0.5, 0.9) * stall
        writes = _between(fleet, start, length * random.uniform(1.0, 1.3))
        times_by(fleet, fleet.writer, writes, cpu_util=1.2, ctx_switch_k=0.7, net_tx_gbps=1.0)
        times_by(fleet, fleet.writer, writes, pcie_tx_gbps=0.9, host_mem_gb=0.12)
        plus_bursts(fleet, fleet.writer, writes, cpu_iowait=12.0)


def data_dips(fleet: RoughFleet) -> None:
    for _ in range(fleet.random.integers(3, 10)):
        dip = _between(fleet, _somewhere(fleet), fleet.random.uniform(10, 70))
        by_host = fleet.random.beta(6, 8, size=(fleet.hosts, 1))
        fleet.load *= 1 - by_host * dip
        fleet.times("dataload_ms")[:] *= 1 + 5 * by_host * dip


def restart(fleet: RoughFleet) -> None:
    random, start, idle = fleet.random, _somewhere(fleet, 0.1, 0.7), fleet.random.uniform(60, 300)
    late = random.gamma(2, 8, size=(fleet.hosts, 1))
    since = fleet.elapsed - start
    up = np.clip((since - idle - late) / random.uniform(20, 120), 0.03, 1)
    fleet.load *= np.where(since < 0, 1.0, up)
    for metric in ("host_mem_gb", "gpu_mem_gb"):
        moved = 1 + 0.008 * random.normal(size=(fleet.hosts, 1))
        fleet.times(metric)[:] *= np.where(since < 0, 1.0, moved * np.where(since < idle, 0.4, 1.0))


def congestion(fleet: RoughFleet) -> None:
    random = fleet.random
    on = _between(fleet, _somewhere(fleet, 0.05, 0.8), random.uniform(120, 1500))
    share = random.gamma(3, 1 / 3, size=(fleet.hosts, 1))
    for metric, size in (("ecn_cnp_s", 2500.0), ("pfc_tx_s", 250.0), ("switch_q_kb", 150.0)):
        burst = random.gamma(3, 1 / 3, size=fleet.unrest.shape)
        fleet.plus(metric)[:] += size * share * burst * on
    for metric in ("net_tx_gbps", "net_rx_gbps"):
        fleet.times(metric)[:] *= 1 - np.clip(0.12 * share, 0, 0.4) * on
    fleet.slower(0.1 * on)


def hall_heat(fleet: RoughFleet) -> None:
    random = fleet.random
    since = np.maximum(fleet.elapsed - _somewhere(fleet, 0.05, 0.6), 0)
    warm = 1 - np.exp(-since / random.uniform(200, 1200))
    racks = int(fleet.rack.max()) + 1
    low, high = random.uniform(0.4, 1.6, 2).tolist()
    slope = np.linspace(low, high, racks)[fleet.rack][:, None]
    by_host = slope * (1 + 0.12 * random.normal(size=(fleet.hosts, 1)))
    for metric, size in (("gpu_temp_c", 8.0), ("gpu_memtemp_c", 7.0)):
        fleet.plus(metric)[:] += size * by_host * warm


def row_power_cap(fleet: RoughFleet) -> None:
    random = fleet.random
    rack = random.integers(0, int(fleet.rack.max()) + 1)
    on = course_of(fleet, _somewhere(fleet, 0.2, 0.8), random.uniform(0, 40))
    for_all = random.uniform(0.1, 0.25)
    for host in np.flatnonzero(fleet.rack == rack):
        cap = for_all * (1 + 0.12 * random.normal())
        times_by(fleet, int(host), on, gpu_power_w=-cap, gpu_clock_mhz=-cap / 2)
        times_by(fleet, int(host), on, tflops_actual=-cap / 2)


def jitter(fleet: RoughFleet) -> None:
    during = _between(fleet, _somewhere(fleet, 0, 0.7), fleet.random.uniform(200, 1500))
    fleet.unrest *= 1 + fleet.random.uniform(0.5, 2.0) * during


def quiet(fleet: RoughFleet) -> None:
    fleet.unrest *= 0.1


def noisy_host(fleet: RoughFleet) -> None:
    """One host measures worse than the others, all the time."""
    fleet.unrest[fleet.random.integers(fleet.hosts)] *= fleet.random.uniform(1.5, 3.0)


def cron_jobs(fleet: RoughFleet) -> None:
    """Housekeeping: each host for a minute or so, one after the other, or all at once."""
    random, length = fleet.random, fleet.random.uniform(20, 90)
    spread = float(random.choice([0.0, 120.0, 1500.0]))
    for host in range(fleet.hosts):
        on = _between(fleet, 300 + random.uniform(0, spread), length)
        on += _between(fleet, 300 + random.uniform(0, spread) + 1800, length)
        times_by(fleet, host, on, cpu_util=0.8, ctx_switch_k=0.4, disk_read_mbps=0.5)
        plus_bursts(fleet, host, on, cpu_iowait=3.0)


def new_code(fleet: RoughFleet) -> None:
    """The program changes pace for everyone: longer sequences, another schedule."""
    on = course_of(fleet, _somewhere(fleet, 0.1, 0.9))
    fleet.slower(fleet.random.uniform(-0.15, 0.3) * on)
    fleet.times("gpu_mem_gb")[:] *= 1 + fleet.random.uniform(-0.1, 0.1) * on


ROUGH_EVENTS: Mapping[str, Event] = {
    "checkpoint-stall": checkpoint_stall,
    "data-dips": data_dips,
    "restart": restart,
    "congestion": congestion,
    "hall-heat": hall_heat,
    "row-power-cap": row_power_cap,
    "jitter": jitter,
    "quiet": quiet,
    "noisy-host": noisy_host,
    "cron-jobs": cron_jobs,
    "new-code": new_code,
}
