"""What happens to healthy fleets and is nobody's fault: the eight confounders."""

from collections.abc import Callable, Mapping

import numpy as np

from diagnosis.simulator.fleet_load import COUNTING, METRICS, Fleet

Confounder = Callable[[Fleet], None]

#: Rank 0 runs here; it writes the checkpoint.
FIRST_HOST = 0


def _pulse(fleet: Fleet, start_s: float, length_s: float) -> slice:
    first = int(start_s / fleet.interval)
    return slice(first, max(first + 1, first + round(length_s / fleet.interval)))


def _span(fleet: Fleet) -> float:
    return len(fleet.time) * fleet.interval


def checkpoint_stall(fleet: Fleet) -> None:
    """Every so often all hosts wait while the first one writes."""
    random = fleet.random
    period, length = random.uniform(600, 1800), random.uniform(30, 150)
    at = random.uniform(60, period)
    while at < _span(fleet):
        during = _pulse(fleet, at, length)
        lag = 1 - random.uniform(0.6, 0.95) * random.uniform(0.85, 1.0, size=(fleet.hosts, 1))
        width = fleet.values[0, 0, during].size
        load = np.ones((fleet.hosts, len(fleet.time)))
        load[:, during] = np.broadcast_to(lag, (fleet.hosts, width))
        fleet.follow_load(load)
        fleet.of("iteration_s")[:, during] *= random.uniform(1.5, 4)
        first = FIRST_HOST
        fleet.of("cpu_util")[first, during] *= random.uniform(1.5, 3)
        fleet.of("net_tx_gbps")[first, during] *= random.uniform(1.2, 3)
        fleet.of("cpu_iowait")[first, during] += random.uniform(5, 25)
        fleet.of("host_mem_gb")[first, during] *= random.uniform(1.02, 1.25)
        fleet.of("ctx_switch_k")[first, during] *= random.uniform(1.1, 2)
        fleet.of("pcie_tx_gbps")[first, during] *= random.uniform(1.2, 3)
        at += period


def data_loading_dips(fleet: Fleet) -> None:
    """The input pipeline runs dry now and then; every host starves, some more than others."""
    random = fleet.random
    for _ in range(random.integers(3, 12)):
        during = _pulse(fleet, random.uniform(0, _span(fleet)), random.uniform(10, 60))
        width = fleet.values[0, 0, during].size
        depth = np.clip(random.normal(0.4, 0.12, size=(fleet.hosts, 1)), 0.05, 0.9)
        load = np.ones((fleet.hosts, len(fleet.time)))
        load[:, during] = np.broadcast_to(1 - depth, (fleet.hosts, width))
        fleet.follow_load(load)
        fleet.of("dataload_ms")[:, during] *= 1 + 4 * depth


def restart(fleet: Fleet) -> None:
    """The job restarts: minutes of idling, a ramp, and memory that settles elsewhere."""
    random = fleet.random
    at, idle, ramp = random.uniform(300, _span(fleet) - 600), random.uniform(60, 240), 90.0
    elapsed = fleet.time - fleet.time[0] - at
    late = random.uniform(0, 30, size=(fleet.hosts, 1))
    rising = np.clip((elapsed[None] - idle - late) / ramp, 0.02, 1.0)
    fleet.follow_load(np.where(elapsed[None] < 0, 1.0, rising))
    after = elapsed >= 0
    for metric in ("gpu_mem_gb", "host_mem_gb"):
        moved = 1 + 0.01 * random.normal(size=(fleet.hosts, 1))
        fleet.of(metric)[:, after] *= np.broadcast_to(moved, (fleet.hosts, int(after.sum())))
        fleet.of(metric)[:] *= np.where(after & (elapsed < idle), 0.3, 1.0)


def fabric_congestion(fleet: Fleet) -> None:
    """Neighbours' traffic: counters rise and throughput falls on most hosts, unevenly."""
    random = fleet.random
    at, length = random.uniform(200, _span(fleet) - 200), random.uniform(200, 1500)
    during = _pulse(fleet, at, length)
    uneven = np.exp(0.5 * random.normal(size=(fleet.hosts, 1)))
    for metric, size in (("ecn_cnp_s", 4000.0), ("pfc_tx_s", 300.0), ("switch_q_kb", 200.0)):
        width = fleet.of(metric)[:, during].shape
        fleet.of(metric)[:, during] += size * uneven * np.exp(0.4 * random.normal(size=width))
    for metric in ("net_tx_gbps", "net_rx_gbps"):
        lost = np.clip(random.uniform(0.1, 0.3) * uneven**0.3, 0, 0.6)
        fleet.of(metric)[:, during] *= 1 - lost
    fleet.of("iteration_s")[:, during] *= 1.12


def hall_heat(fleet: Fleet) -> None:
    """The hall warms up; rows nearer to the wall warm more."""
    random = fleet.random
    onset = random.uniform(0.1, 0.6) * _span(fleet)
    warm = np.clip((fleet.time - fleet.time[0] - onset) / random.uniform(300, 1500), 0, 1)
    by_row = random.uniform(0.5, 1.5, size=int(fleet.row.max()) + 1)[fleet.row][:, None]
    by_host = by_row * (1 + 0.1 * random.normal(size=(fleet.hosts, 1)))
    for metric, size in (("gpu_temp_c", 7.0), ("gpu_memtemp_c", 6.0)):
        fleet.of(metric)[:] += size * by_host * warm


def row_power_cap(fleet: Fleet) -> None:
    """One row of racks is capped: a group of hosts clocks down together."""
    random = fleet.random
    capped = fleet.row == random.integers(0, int(fleet.row.max()) + 1)
    after = fleet.time >= fleet.time[0] + random.uniform(0.3, 0.7) * _span(fleet)
    cap = random.uniform(0.08, 0.25) * (1 + 0.1 * random.normal(size=(int(capped.sum()), 1)))
    for metric, share in (("gpu_power_w", 1.0), ("gpu_clock_mhz", 0.5), ("tflops_actual", 0.4)):
        fleet.of(metric)[capped] *= 1 - share * cap * after


def jitter(fleet: Fleet) -> None:
    """For a while everything is noisier, on all hosts."""
    random = fleet.random
    during = _pulse(fleet, random.uniform(200, _span(fleet) - 300), random.uniform(200, 1500))
    for metric in METRICS:
        if metric not in COUNTING:
            samples = fleet.of(metric)[:, during]
            middle = np.median(samples, axis=1, keepdims=True)
            samples[:] = middle + random.uniform(1.5, 3) * (samples - middle)


def quiet(fleet: Fleet) -> None:
    """Hardly any noise at all; counters stay at zero."""
    for metric in METRICS:
        samples = fleet.of(metric)
        middle = np.median(samples, axis=1, keepdims=True)
        samples[:] = 0.0 if metric in COUNTING else middle + 0.1 * (samples - middle)


CONFOUNDERS: Mapping[str, Confounder] = {
    "checkpoint-stall": checkpoint_stall,
    "data-loading-dips": data_loading_dips,
    "restart": restart,
    "fabric-congestion": fabric_congestion,
    "hall-heat": hall_heat,
    "row-power-cap": row_power_cap,
    "jitter": jitter,
    "quiet": quiet,
}
