"""A rougher fleet than the simulator's: hosts as machines with their own gain, cooling and noise.

Nothing is shared with `diagnosis.simulator`. A load drives power, power drives temperature through
each host's own cooling, counters are bursts of arrivals, and noise has heavy tails, memory and slow
wandering that differ from cell to cell. What happens to a host is put in before noise and scrapes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gauge:
    """A gauge: level, spread of gains between hosts, exponent of the load, relative noise."""

    level: float
    spread: float
    follows: float
    noise: float
    memory: float


@dataclass(frozen=True, slots=True)
class Arrivals:
    """A counter of what should not happen: bursts a second, their mean size, spread over hosts."""

    bursts: float
    size: float
    spread: float


GAUGES: Mapping[str, Gauge] = {
    "gpu_util": Gauge(96.0, 0.008, 0.6, 0.010, 0.2),
    "gpu_sm_active": Gauge(0.71, 0.012, 0.9, 0.014, 0.3),
    "gpu_tensor_active": Gauge(0.39, 0.015, 1.0, 0.018, 0.3),
    "gpu_clock_mhz": Gauge(1680.0, 0.008, 0.0, 0.004, 0.6),
    "gpu_mem_gb": Gauge(66.0, 0.03, 0.0, 0.002, 0.9),
    "nvlink_tx_gbps": Gauge(180.0, 0.03, 1.0, 0.028, 0.3),
    "pcie_tx_gbps": Gauge(9.0, 0.08, 0.8, 0.055, 0.5),
    "cpu_util": Gauge(22.0, 0.10, 0.4, 0.055, 0.6),
    "cpu_iowait": Gauge(0.9, 0.35, 0.2, 0.30, 0.5),
    "host_mem_gb": Gauge(520.0, 0.06, 0.0, 0.003, 0.95),
    "ctx_switch_k": Gauge(70.0, 0.10, 0.4, 0.05, 0.5),
    "net_tx_gbps": Gauge(120.0, 0.03, 1.0, 0.035, 0.4),
    "net_rx_gbps": Gauge(120.0, 0.03, 1.0, 0.035, 0.4),
    "switch_q_kb": Gauge(30.0, 0.3, 0.5, 0.3, 0.4),
    "disk_read_mbps": Gauge(310.0, 0.12, 0.6, 0.14, 0.5),
    "dataload_ms": Gauge(31.0, 0.09, 0.0, 0.08, 0.4),
    "tflops_actual": Gauge(410.0, 0.010, 1.0, 0.011, 0.3),
    "iteration_s": Gauge(6.3, 0.001, -1.0, 0.010, 0.2),
}
COUNTERS: Mapping[str, Arrivals] = {
    "pcie_replay_s": Arrivals(0.002, 2.0, 1.0),
    "ecc_ce_s": Arrivals(0.0006, 3.0, 1.2),
    "ecn_cnp_s": Arrivals(0.3, 35.0, 0.7),
    "retrans_s": Arrivals(0.05, 8.0, 0.8),
    "pfc_tx_s": Arrivals(0.05, 40.0, 0.8),
}
#: Watts at rest and at full load; degrees a watt and seconds of each sensor's cooling.
IDLE_W, FULL_W = 110.0, 640.0
COOLING: Mapping[str, tuple[float, float]] = {
    "gpu_temp_c": (0.055, 45.0),
    "gpu_memtemp_c": (0.07, 150.0),
}
ROUGH_METRICS = (*GAUGES, "gpu_power_w", *COOLING, *COUNTERS)


@dataclass
class RoughFleet:
    """A fleet before it is measured; faults and events write into its arrays.

    `load` (hosts, samples) is 1 at the usual pace. Per metric, all (hosts, samples): `factor` what
    multiplies its true value, `extra` what is added to it; `unrest` (hosts, samples) multiplies the
    noise. `rack` numbers each host's rack, `writer` is the host of rank 0.
    """

    random: np.random.Generator
    time: Array
    hosts: int
    load: Array
    rack: npt.NDArray[np.intp]
    stage: npt.NDArray[np.intp]
    writer: int
    unrest: Array
    factor: dict[str, Array] = field(default_factory=dict)
    extra: dict[str, Array] = field(default_factory=dict)

    @property
    def step(self) -> float:
        return float(self.time[1] - self.time[0])

    @property
    def elapsed(self) -> Array:
        """Seconds since the first sample, (samples,)."""
        return np.asarray(self.time - self.time[0])

    def times(self, metric: str) -> Array:
        return self.factor.setdefault(metric, np.ones((self.hosts, len(self.time))))

    def plus(self, metric: str) -> Array:
        return self.extra.setdefault(metric, np.zeros((self.hosts, len(self.time))))

    def slower(self, share: Array | float) -> None:
        """The whole job takes `share` longer for each step."""
        self.load /= 1 + np.asarray(share)


def rough_fleet(random: np.random.Generator, *, hosts: int, time: Array) -> RoughFleet:
    """A healthy fleet under a load with a daily swing and a common unrest."""
    seconds = time - time[0]
    day = 1 + random.uniform(0, 0.05) * np.sin(2 * np.pi * (seconds / 86400 + random.uniform()))
    sway = 1 + random.uniform(0.003, 0.015) * _walk(random, (1, len(time)), 300.0, seconds)
    stages = int(random.choice([1, 1, 2, 4])) if hosts >= 16 else 1
    stage = np.sort(np.arange(hosts) % stages)
    uneven = (1 + random.uniform(-0.1, 0.1, stages))[stage][:, None]
    return RoughFleet(
        random=random,
        time=time,
        hosts=hosts,
        load=np.broadcast_to(day * sway, (hosts, len(time))) * uneven,
        rack=np.arange(hosts) // max(2, hosts // 6),
        stage=stage,
        writer=0,
        unrest=np.ones((hosts, len(time))),
    )


def true_values(fleet: RoughFleet) -> dict[str, Array]:
    """Every metric as it really is, with its noise, (hosts, samples) each."""
    random, hosts = fleet.random, fleet.hosts
    louder, tail = random.uniform(0.7, 1.8), random.uniform(2.6, 9.0)
    by_host = np.exp(0.25 * random.normal(size=(hosts, 1)))
    values: dict[str, Array] = {}
    for name, gauge in GAUGES.items():
        gain = gauge.level * np.exp(gauge.spread * random.normal(size=(hosts, 1)))
        true = gain * fleet.load**gauge.follows
        size = louder * gauge.noise * by_host * fleet.unrest
        noise = size * _noise(fleet, gauge.memory, tail)
        values[name] = _changed(fleet, name, true) * np.exp(np.clip(noise, -3, 3))
    values |= _power_and_heat(fleet, louder * by_host)
    for name, counter in COUNTERS.items():
        values[name] = _changed(fleet, name, _arrivals(fleet, counter))
    for name in ("gpu_util", "cpu_util"):
        values[name] = np.minimum(values[name], 100.0)
    return {name: np.maximum(values[name], 0.0) for name in ROUGH_METRICS}


def _changed(fleet: RoughFleet, name: str, true: Array) -> Array:
    changed = true * fleet.factor[name] if name in fleet.factor else true
    return changed + fleet.extra[name] if name in fleet.extra else changed


def _power_and_heat(fleet: RoughFleet, louder: Array) -> dict[str, Array]:
    random, hosts = fleet.random, fleet.hosts
    watts = IDLE_W + (FULL_W - IDLE_W) * np.minimum(fleet.load, 1.1) ** 0.8
    watts = _changed(fleet, "gpu_power_w", watts * np.exp(0.03 * random.normal(size=(hosts, 1))))
    found = {"gpu_power_w": watts * (1 + 0.012 * louder * fleet.unrest * _noise(fleet, 0.3, 5.0))}
    inlet = random.uniform(22, 28) + random.normal(0, 1.2, size=(hosts, 1))
    for name, (degrees, seconds) in COOLING.items():
        resistance = degrees * np.exp(0.05 * random.normal(size=(hosts, 1)))
        target = inlet + resistance * watts + fleet.extra.get(name, 0.0)
        warm = np.empty_like(target)
        warm[:, 0] = target[:, 0]
        share = 1 - np.exp(-fleet.step / seconds)
        for sample in range(1, target.shape[1]):
            warm[:, sample] = warm[:, sample - 1] + share * (
                target[:, sample] - warm[:, sample - 1]
            )
        noise = 0.35 * louder * _noise(fleet, 0.8, 6.0)
        found[name] = np.round(warm + noise) if random.random() < 0.5 else warm + noise
    return found


def _arrivals(fleet: RoughFleet, counter: Arrivals) -> Array:
    """Bursts of heavy-tailed size, as a rate a second."""
    random, shape = fleet.random, fleet.unrest.shape
    often = counter.bursts * np.exp(counter.spread * random.normal(size=(fleet.hosts, 1)))
    count = random.poisson(often * fleet.step * fleet.unrest, size=shape)
    size = counter.size * np.minimum(random.pareto(2.2, size=shape) + 0.4, 25.0)
    return count * size / fleet.step


def _noise(fleet: RoughFleet, memory: float, tail: float) -> Array:
    """Unit noise: Student-t with a memory of each cell's own, and a slow wandering below it."""
    random, shape = fleet.random, fleet.unrest.shape
    own = np.clip(memory + random.uniform(-0.2, 0.2, size=(fleet.hosts, 1)), 0.0, 0.97)
    own = own ** (fleet.step / 10.0)
    fresh = np.clip(random.standard_t(tail, size=shape), -12, 12) * np.sqrt(
        max(tail - 2, 0.5) / tail
    )
    noise = np.empty(shape)
    noise[:, 0] = fresh[:, 0]
    for sample in range(1, shape[1]):
        noise[:, [sample]] = own * noise[:, [sample - 1]] + np.sqrt(1 - own**2) * fresh[:, [sample]]
    wander = random.uniform(0.1, 0.6, size=(fleet.hosts, 1))
    return noise + wander * _walk(random, shape, random.uniform(400, 2400), fleet.elapsed)


def _walk(
    random: np.random.Generator, shape: tuple[int, int], seconds: float, elapsed: Array
) -> Array:
    """A unit walk that is drawn back to zero within `seconds`, (hosts, samples)."""
    keep = float(np.exp(-(elapsed[1] - elapsed[0]) / seconds))
    walk = np.empty(shape)
    walk[:, 0] = random.normal(size=shape[0])
    fresh = np.sqrt(1 - keep**2) * random.normal(size=shape)
    for sample in range(1, shape[1]):
        walk[:, sample] = keep * walk[:, sample - 1] + fresh[:, sample]
    return walk


def course_of(fleet: RoughFleet, onset: float, rise: float = 0.0) -> Array:
    """0 until `onset` seconds, then 1, reached within `rise` seconds as a charge is."""
    since = fleet.elapsed - onset
    if rise <= 0:
        return (since >= 0).astype(np.float64)
    return np.where(since >= 0, 1 - np.exp(-2.5 * np.maximum(since, 0) / rise), 0.0)


def times_by(fleet: RoughFleet, host: int, course: Array, **change: float) -> None:
    for metric, share in change.items():
        fleet.times(metric)[host] *= 1 + share * course


def plus_bursts(fleet: RoughFleet, host: int, course: Array, **amount: float) -> None:
    for metric, size in amount.items():
        fleet.plus(metric)[host] += size * course * fleet.random.gamma(4, 0.25, len(fleet.time))
