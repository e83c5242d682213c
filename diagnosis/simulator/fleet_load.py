"""A healthy fleet under a synchronous training load: levels, spread between hosts, and noise."""

from dataclasses import dataclass

import numpy as np

from diagnosis.core.metrics import FloatArray


@dataclass(frozen=True, slots=True)
class Nominal:
    """How one metric looks on a healthy host.

    `level` in the metric's unit; `spread` the relative deviation between hosts; `noise` the
    relative deviation between samples; `load` how strongly it follows the job's load (0..1);
    `memory` the autocorrelation of its noise from one 10 s sample to the next.
    """

    level: float
    spread: float
    noise: float
    load: float
    memory: float = 0.3


NOMINAL: dict[str, Nominal] = {
    "gpu_util": Nominal(93.0, 0.01, 0.012, 1.0),
    "gpu_sm_active": Nominal(0.78, 0.015, 0.015, 1.0),
    "gpu_tensor_active": Nominal(0.45, 0.02, 0.02, 1.0),
    "gpu_power_w": Nominal(610.0, 0.025, 0.012, 0.7),
    "gpu_temp_c": Nominal(66.0, 0.045, 0.006, 0.25, 0.9),
    "gpu_memtemp_c": Nominal(78.0, 0.04, 0.006, 0.2, 0.9),
    "gpu_clock_mhz": Nominal(1755.0, 0.006, 0.004, 0.0, 0.5),
    "gpu_mem_gb": Nominal(71.0, 0.02, 0.002, 0.0, 0.8),
    "nvlink_tx_gbps": Nominal(210.0, 0.02, 0.03, 1.0),
    "pcie_tx_gbps": Nominal(11.0, 0.05, 0.06, 0.8),
    "pcie_replay_s": Nominal(0.02, 0.5, 1.0, 0.0, 0.0),
    "ecc_ce_s": Nominal(0.01, 0.5, 1.0, 0.0, 0.0),
    "cpu_util": Nominal(27.0, 0.06, 0.05, 0.4),
    "cpu_iowait": Nominal(1.2, 0.2, 0.25, 0.0),
    "host_mem_gb": Nominal(410.0, 0.05, 0.003, 0.0, 0.95),
    "ctx_switch_k": Nominal(95.0, 0.07, 0.05, 0.4),
    "net_tx_gbps": Nominal(145.0, 0.02, 0.035, 1.0),
    "net_rx_gbps": Nominal(145.0, 0.02, 0.035, 1.0),
    "ecn_cnp_s": Nominal(15.0, 0.4, 0.8, 0.3, 0.2),
    "retrans_s": Nominal(0.5, 0.4, 1.0, 0.0, 0.2),
    "pfc_tx_s": Nominal(3.0, 0.4, 0.9, 0.3, 0.2),
    "switch_q_kb": Nominal(45.0, 0.2, 0.4, 0.5, 0.3),
    "disk_read_mbps": Nominal(260.0, 0.08, 0.12, 0.6),
    "dataload_ms": Nominal(38.0, 0.06, 0.08, 0.0),
    "tflops_actual": Nominal(395.0, 0.008, 0.012, 1.0),
    "iteration_s": Nominal(4.2, 0.001, 0.012, 0.0),
}

#: Metrics that count rare events: their noise is bursty and never negative.
COUNTING = ("pcie_replay_s", "ecc_ce_s", "ecn_cnp_s", "retrans_s", "pfc_tx_s", "switch_q_kb")

METRICS = tuple(NOMINAL)


@dataclass
class Fleet:
    """A fleet while it is being simulated; faults and confounders change `values` in place.

    `values` has shape (metrics, hosts, samples), `time` seconds; `stage` is the pipeline stage of
    each host and `row` its row in the hall. `load` (samples) is the job's common load, 1 = normal.
    """

    values: FloatArray
    time: np.ndarray
    stage: np.ndarray
    row: np.ndarray
    random: np.random.Generator

    @property
    def hosts(self) -> int:
        return int(self.values.shape[1])

    @property
    def interval(self) -> float:
        return float(self.time[1] - self.time[0])

    def of(self, metric: str) -> FloatArray:
        """The metric's samples, shape (hosts, samples); a view to write through."""
        samples: FloatArray = self.values[METRICS.index(metric)]
        return samples

    def follow_load(self, factor: np.ndarray, hosts: np.ndarray | slice = slice(None)) -> None:
        """Scale what follows the load by `factor` (samples), or (hosts, samples)."""
        for metric, nominal in NOMINAL.items():
            if nominal.load:
                self.of(metric)[hosts] *= 1 - nominal.load * (1 - factor)


def healthy_fleet(
    random: np.random.Generator, *, hosts: int, samples: int, interval: float, start: float
) -> Fleet:
    """A fleet whose hosts differ by nature, with first and last pipeline stage unlike the rest.

    The noise is drawn anew for each fleet: its size, its tails (Student t with 3–30 degrees of
    freedom) and its autocorrelation, so that no detector can rest on one kind.
    """
    stages = max(1, min(4, hosts // 8))
    stage = np.arange(hosts) * stages // hosts
    size, tail = random.uniform(0.6, 1.6), random.uniform(3.0, 30.0)
    shape = (hosts, samples)
    common = 1 + 0.01 * _coloured(random, (1, samples), 0.8, 10.0)
    drift = 1 + 0.02 * np.sin(
        2 * np.pi * (np.arange(samples) * interval / random.uniform(3e3, 3e4) + random.uniform())
    )
    values = np.empty((len(METRICS), *shape), dtype=np.float32)
    for index, (metric, nominal) in enumerate(NOMINAL.items()):
        by_host = nominal.level * np.exp(nominal.spread * random.normal(size=(hosts, 1)))
        by_stage = 1 + 0.12 * nominal.load * random.uniform(-1, 1, size=stages)[stage][:, None]
        noise = size * nominal.noise * _coloured(random, shape, nominal.memory, tail)
        if metric in COUNTING:
            values[index] = by_host * np.exp(noise - 0.5 * (size * nominal.noise) ** 2)
        else:
            values[index] = by_host * by_stage * (1 + nominal.load * (common * drift - 1) + noise)
    row = np.arange(hosts) * max(1, hosts // 8) // hosts
    time = start + interval * np.arange(samples, dtype=np.float64)
    fleet = Fleet(values, time, stage, row, random)
    fleet.of("iteration_s")[:] /= common * drift
    return fleet


def _coloured(
    random: np.random.Generator, shape: tuple[int, int], memory: float, tail: float
) -> np.ndarray:
    """Unit-variance noise with first-order autocorrelation `memory` and Student-t innovations."""
    innovation = random.standard_t(tail, size=shape) if tail < 25 else random.normal(size=shape)
    innovation = np.clip(innovation, -8, 8)
    innovation /= max(float(innovation.std()), 1e-9)
    if memory == 0.0:
        return innovation
    noise = np.empty(shape)
    noise[:, 0] = innovation[:, 0]
    fresh = np.sqrt(1 - memory**2)
    for sample in range(1, shape[1]):
        noise[:, sample] = memory * noise[:, sample - 1] + fresh * innovation[:, sample]
    return noise
