"""The 14 kinds of degradation that a fleet can be given: one host each, from an onset on."""

from collections.abc import Callable, Mapping

import numpy as np

from diagnosis.simulator.fleet_load import Fleet

Fault = Callable[[Fleet, int, int], None]


def _since(fleet: Fleet, onset: int, ramp_s: float) -> np.ndarray:
    """0 before the onset (sample), rising to 1 within `ramp_s` seconds, shape (samples,)."""
    elapsed = (np.arange(len(fleet.time)) - onset + 1) * fleet.interval
    return np.asarray(np.clip(elapsed / max(ramp_s, fleet.interval), 0.0, 1.0))


def _scale(fleet: Fleet, host: int, strength: np.ndarray, **change: float) -> None:
    """Multiply metrics of a host: `tflops_actual=-0.06` takes 6 % off at full strength."""
    for metric, relative in change.items():
        fleet.of(metric)[host] *= 1 + relative * strength


def _add(fleet: Fleet, host: int, strength: np.ndarray, **amount: float) -> None:
    """Add bursts of about `amount` to counters of a host, varying by a third."""
    for metric, size in amount.items():
        burst = size * np.exp(0.35 * fleet.random.normal(size=len(fleet.time)))
        fleet.of(metric)[host] += burst * strength


def slow_everyone(fleet: Fleet, strength: np.ndarray, slowdown: float) -> None:
    """A synchronous job waits for its slowest host: all of it does less per second."""
    factor = 1 / (1 + slowdown * strength)
    fleet.follow_load(factor)
    fleet.of("iteration_s")[:] /= factor


def thermal_throttle(fleet: Fleet, host: int, onset: int) -> None:
    hot, slow = _since(fleet, onset, 60.0), fleet.random.uniform(0.08, 0.25)
    fleet.of("gpu_temp_c")[host] += fleet.random.uniform(8, 16) * hot
    fleet.of("gpu_memtemp_c")[host] += fleet.random.uniform(5, 12) * hot
    _scale(fleet, host, hot, gpu_clock_mhz=-slow, gpu_power_w=-slow / 2)
    _scale(fleet, host, hot, tflops_actual=-slow * 0.8, gpu_tensor_active=-slow / 3)
    slow_everyone(fleet, hot, slow * fleet.random.uniform(0, 0.9))


def nic_loss(fleet: Fleet, host: int, onset: int) -> None:
    on = _since(fleet, onset, 0.0)
    lost = fleet.random.uniform(0.15, 0.4)
    _add(fleet, host, on, ecn_cnp_s=fleet.random.uniform(10e3, 30e3))
    _add(fleet, host, on, retrans_s=fleet.random.uniform(0, 60))
    _scale(fleet, host, on, net_tx_gbps=-lost, net_rx_gbps=-lost / 3)
    slow_everyone(fleet, on, fleet.random.uniform(0.05, 0.3))


def pcie_degraded(fleet: Fleet, host: int, onset: int) -> None:
    on, lost = _since(fleet, onset, 0.0), fleet.random.uniform(0.25, 0.6)
    _scale(fleet, host, on, pcie_tx_gbps=-lost, dataload_ms=lost, tflops_actual=-lost / 8)
    _add(fleet, host, on, pcie_replay_s=fleet.random.uniform(1, 30))
    slow_everyone(fleet, on, fleet.random.uniform(0, 0.1))


def nvlink_degraded(fleet: Fleet, host: int, onset: int) -> None:
    on, lost = _since(fleet, onset, 0.0), fleet.random.uniform(0.15, 0.5)
    _scale(fleet, host, on, nvlink_tx_gbps=-lost, tflops_actual=-lost / 4, gpu_power_w=-lost / 8)
    slow_everyone(fleet, on, fleet.random.uniform(0, 0.15))


def cpu_contention(fleet: Fleet, host: int, onset: int) -> None:
    on, more = _since(fleet, onset, 20.0), fleet.random.uniform(0.5, 2.0)
    _scale(fleet, host, on, cpu_util=more, ctx_switch_k=more * 0.8, dataload_ms=more * 0.6)
    _scale(fleet, host, on, tflops_actual=-fleet.random.uniform(0.02, 0.1), gpu_util=-0.03)
    slow_everyone(fleet, on, fleet.random.uniform(0, 0.1))


def slow_storage(fleet: Fleet, host: int, onset: int) -> None:
    on, lost = _since(fleet, onset, 30.0), fleet.random.uniform(0.3, 0.7)
    _scale(fleet, host, on, disk_read_mbps=-lost, dataload_ms=2.5 * lost, gpu_util=-lost / 12)
    _add(fleet, host, on, cpu_iowait=fleet.random.uniform(4, 20))
    slow_everyone(fleet, on, fleet.random.uniform(0, 0.1))


def memory_leak(fleet: Fleet, host: int, onset: int) -> None:
    grown = _since(fleet, onset, fleet.random.uniform(1500, 3000))
    _scale(fleet, host, grown, host_mem_gb=fleet.random.uniform(0.25, 0.8))


def ecc_storm(fleet: Fleet, host: int, onset: int) -> None:
    _add(fleet, host, _since(fleet, onset, 30.0), ecc_ce_s=fleet.random.uniform(2, 80))


def flapping_retransmits(fleet: Fleet, host: int, onset: int) -> None:
    on = np.zeros(len(fleet.time))
    sample = onset
    while sample < len(on):
        burst = 1 + int(fleet.random.exponential(30) / fleet.interval)
        on[sample : sample + burst] = 1.0
        sample += burst + 1 + int(fleet.random.exponential(60) / fleet.interval)
    _add(fleet, host, on, retrans_s=fleet.random.uniform(40, 400))
    _scale(fleet, host, on, net_tx_gbps=-fleet.random.uniform(0.03, 0.15))


def power_cap(fleet: Fleet, host: int, onset: int) -> None:
    on, cap = _since(fleet, onset, 0.0), fleet.random.uniform(0.12, 0.35)
    _scale(fleet, host, on, gpu_power_w=-cap, gpu_clock_mhz=-cap / 2, tflops_actual=-cap / 2)
    fleet.of("gpu_temp_c")[host] -= 12 * cap * _since(fleet, onset, 120.0)
    slow_everyone(fleet, on, cap * fleet.random.uniform(0, 0.4))


def fan_wear(fleet: Fleet, host: int, onset: int) -> None:
    worn = _since(fleet, onset, fleet.random.uniform(900, 2000))
    fleet.of("gpu_temp_c")[host] += fleet.random.uniform(9, 18) * worn
    fleet.of("gpu_memtemp_c")[host] += fleet.random.uniform(6, 12) * worn


def pfc_storm(fleet: Fleet, host: int, onset: int) -> None:
    on = _since(fleet, onset, 20.0)
    _add(fleet, host, on, pfc_tx_s=fleet.random.uniform(500, 8000))
    _add(fleet, host, on, switch_q_kb=fleet.random.uniform(100, 600))
    _scale(fleet, host, on, net_rx_gbps=-fleet.random.uniform(0.05, 0.25))
    slow_everyone(fleet, on, fleet.random.uniform(0, 0.15))


def straggler(fleet: Fleet, host: int, onset: int) -> None:
    on = _since(fleet, onset, 0.0)
    _scale(fleet, host, on, tflops_actual=-0.06, gpu_clock_mhz=-fleet.random.uniform(0, 0.06))
    _scale(fleet, host, on, gpu_sm_active=-0.04, gpu_tensor_active=-0.06, gpu_power_w=-0.03)
    slow_everyone(fleet, on, 0.06)


def hang(fleet: Fleet, host: int, onset: int) -> None:
    """Everyone waits in a spinning collective; the culprit is stuck before it."""
    on = _since(fleet, onset, 0.0)
    idle = 1 - 0.97 * on
    for metric in ("net_tx_gbps", "net_rx_gbps", "nvlink_tx_gbps", "tflops_actual"):
        fleet.of(metric)[:] *= idle
    for metric in ("gpu_tensor_active", "pcie_tx_gbps", "disk_read_mbps"):
        fleet.of(metric)[:] *= idle
    fleet.of("gpu_power_w")[:] *= 1 - 0.45 * on
    fleet.of("gpu_util")[:] += (100 - fleet.of("gpu_util")) * on
    stuck = fleet.random.uniform(0.4, 0.97)
    _scale(fleet, host, on, gpu_util=-stuck, gpu_sm_active=-stuck, gpu_power_w=-stuck * 0.5)
    _scale(fleet, host, on, cpu_util=fleet.random.choice([-0.6, 0.8]))


FAULTS: Mapping[str, Fault] = {
    "thermal-throttle": thermal_throttle,
    "nic-loss": nic_loss,
    "pcie-degraded": pcie_degraded,
    "nvlink-degraded": nvlink_degraded,
    "cpu-contention": cpu_contention,
    "slow-storage": slow_storage,
    "memory-leak": memory_leak,
    "ecc-storm": ecc_storm,
    "flapping-retransmits": flapping_retransmits,
    "power-cap": power_cap,
    "fan-wear": fan_wear,
    "pfc-storm": pfc_storm,
    "straggler": straggler,
    "hang": hang,
}
