"""The published case: one link loses packets silently, and the whole job becomes slower.

ECN on its NIC rises from 0 to 10–30 thousand a second, iterations take 26 % longer (Aegis, NSDI
'25). Here it also ends, so that a recovery can be seen.
"""

from dataclasses import dataclass

import numpy as np

from diagnosis.core.metrics import MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.simulator.fleet import START, fleet_placement
from diagnosis.simulator.fleet_faults import slow_everyone
from diagnosis.simulator.fleet_load import METRICS, healthy_fleet


@dataclass(frozen=True, slots=True)
class PaperTruth:
    """The faulty host and NIC, from when to when (seconds since 1970), and the slowdown (0.26)."""

    host: str
    nic: str
    onset: float
    recovery: float
    slowdown: float


def paper_case(
    seed: int,
    *,
    hosts: int = 16,
    samples: int = 480,
    interval: float = 15.0,
    onset: int = 240,
    recovery: int = 360,
    slowdown: float = 0.26,
    start: float = START,
) -> tuple[MetricWindow, PaperTruth, Placement]:
    """A window of shape (26 metrics, hosts, samples); `onset` and `recovery` are samples in it."""
    random = np.random.default_rng(seed)
    fleet = healthy_fleet(random, hosts=hosts, samples=samples, interval=interval, start=start)
    fleet.of("ecn_cnp_s")[:] = 0.0
    host, on = int(random.integers(hosts)), np.zeros(samples)
    on[onset:recovery] = 1.0
    fleet.of("ecn_cnp_s")[host] = on * random.uniform(10e3, 30e3, size=samples)
    fleet.of("net_tx_gbps")[host] *= 1 - 0.2 * on
    slow_everyone(fleet, on, slowdown)
    names = tuple(f"node-{number:03d}" for number in range(hosts))
    truth = PaperTruth(
        host=names[host],
        nic=f"mlx5_{random.integers(2)}",
        onset=start + interval * onset,
        recovery=start + interval * recovery,
        slowdown=slowdown,
    )
    window = MetricWindow(fleet.values, METRICS, names, fleet.time)
    return window, truth, fleet_placement(names, fleet.stage)
