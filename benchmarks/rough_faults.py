"""The fourteen faults of one host in rough fleets."""

from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.rough_load import GAUGES, RoughFleet, course_of, plus_bursts, times_by

Fault = Callable[[RoughFleet, int, float], None]


def thermal_throttle(fleet: RoughFleet, host: int, onset: float) -> None:
    hot, lost = course_of(fleet, onset, 120), fleet.random.uniform(0.07, 0.2)
    fleet.plus("gpu_temp_c")[host] += fleet.random.uniform(9, 18) * hot
    fleet.plus("gpu_memtemp_c")[host] += fleet.random.uniform(7, 14) * hot
    times_by(
        fleet, host, hot, gpu_clock_mhz=-lost, tflops_actual=-0.7 * lost, gpu_power_w=-lost / 3
    )
    fleet.slower(lost * fleet.random.uniform(0.2, 1.0) * hot)


def nic_loss(fleet: RoughFleet, host: int, onset: float) -> None:
    on, lost = course_of(fleet, onset), fleet.random.uniform(0.12, 0.35)
    plus_bursts(fleet, host, on, ecn_cnp_s=fleet.random.uniform(2e3, 2e4))
    plus_bursts(fleet, host, on, retrans_s=fleet.random.uniform(5, 80))
    times_by(fleet, host, on, net_tx_gbps=-lost, net_rx_gbps=-lost / 2)
    fleet.slower(fleet.random.uniform(0.04, 0.26) * on)


def pcie_degraded(fleet: RoughFleet, host: int, onset: float) -> None:
    on, lost = course_of(fleet, onset), fleet.random.uniform(0.3, 0.7)
    times_by(fleet, host, on, pcie_tx_gbps=-lost, dataload_ms=0.9 * lost)
    plus_bursts(fleet, host, on, pcie_replay_s=fleet.random.uniform(0.8, 20))


def nvlink_degraded(fleet: RoughFleet, host: int, onset: float) -> None:
    on, lost = course_of(fleet, onset), fleet.random.uniform(0.18, 0.5)
    times_by(fleet, host, on, nvlink_tx_gbps=-lost, tflops_actual=-lost / 6)
    fleet.slower(fleet.random.uniform(0.0, 0.12) * on)


def cpu_contention(fleet: RoughFleet, host: int, onset: float) -> None:
    on, more = course_of(fleet, onset, 60), fleet.random.uniform(0.6, 2.2)
    times_by(fleet, host, on, cpu_util=more, ctx_switch_k=0.6 * more, dataload_ms=0.5 * more)
    fleet.slower(fleet.random.uniform(0, 0.08) * on)


def slow_storage(fleet: RoughFleet, host: int, onset: float) -> None:
    on = course_of(fleet, onset, 30)
    times_by(fleet, host, on, disk_read_mbps=-fleet.random.uniform(0.35, 0.8))
    times_by(fleet, host, on, dataload_ms=fleet.random.uniform(0.5, 3))
    plus_bursts(fleet, host, on, cpu_iowait=fleet.random.uniform(4, 25))


def memory_leak(fleet: RoughFleet, host: int, onset: float) -> None:
    since = np.maximum(fleet.elapsed - onset, 0)
    fleet.plus("host_mem_gb")[host] += fleet.random.uniform(0.10, 0.35) * since


def ecc_storm(fleet: RoughFleet, host: int, onset: float) -> None:
    plus_bursts(fleet, host, course_of(fleet, onset, 30), ecc_ce_s=fleet.random.uniform(1.5, 60))


def flapping_retransmits(fleet: RoughFleet, host: int, onset: float) -> None:
    period, share = fleet.random.uniform(60, 140), fleet.random.uniform(0.3, 0.6)
    phase = ((fleet.elapsed - onset) % period) < share * period
    on = course_of(fleet, onset) * phase
    plus_bursts(fleet, host, on, retrans_s=fleet.random.uniform(60, 500))
    times_by(fleet, host, on, net_tx_gbps=-fleet.random.uniform(0.05, 0.2))


def power_cap(fleet: RoughFleet, host: int, onset: float) -> None:
    on, cap = course_of(fleet, onset), fleet.random.uniform(0.12, 0.3)
    times_by(fleet, host, on, gpu_power_w=-cap, gpu_clock_mhz=-0.6 * cap, tflops_actual=-0.5 * cap)
    fleet.slower(cap * fleet.random.uniform(0.1, 0.5) * on)


def fan_wear(fleet: RoughFleet, host: int, onset: float) -> None:
    worn = np.clip((fleet.elapsed - onset) / fleet.random.uniform(600, 1500), 0, 1)
    fleet.plus("gpu_temp_c")[host] += fleet.random.uniform(10, 18) * worn
    fleet.plus("gpu_memtemp_c")[host] += fleet.random.uniform(8, 14) * worn


def pfc_storm(fleet: RoughFleet, host: int, onset: float) -> None:
    on = course_of(fleet, onset, 20)
    plus_bursts(fleet, host, on, pfc_tx_s=fleet.random.uniform(400, 6000))
    plus_bursts(fleet, host, on, switch_q_kb=fleet.random.uniform(80, 500))
    times_by(fleet, host, on, net_rx_gbps=-fleet.random.uniform(0.06, 0.3))
    fleet.slower(fleet.random.uniform(0, 0.15) * on)


def straggler(fleet: RoughFleet, host: int, onset: float) -> None:
    on = course_of(fleet, onset)
    times_by(fleet, host, on, tflops_actual=-0.06, gpu_tensor_active=-0.06, gpu_sm_active=-0.05)
    times_by(fleet, host, on, gpu_clock_mhz=-fleet.random.uniform(0.01, 0.05))
    fleet.slower(0.06 * on)


def hang(fleet: RoughFleet, host: int, onset: float) -> None:
    on = course_of(fleet, onset)
    for metric, gauge in GAUGES.items():
        if gauge.follows > 0 and metric not in ("gpu_util", "gpu_sm_active", "cpu_util"):
            fleet.times(metric)[:] *= 1 - 0.96 * on
    fleet.times("gpu_power_w")[:] *= 1 - 0.4 * on
    stuck = fleet.random.uniform(0.5, 0.98)
    times_by(fleet, host, on, gpu_util=-stuck, gpu_sm_active=-stuck, gpu_power_w=-0.45 * stuck)
    times_by(fleet, host, on, cpu_util=float(fleet.random.choice([-0.7, 1.0])))


ROUGH_FAULTS: Mapping[str, Fault] = {
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
