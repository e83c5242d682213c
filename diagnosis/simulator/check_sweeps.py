"""Sweeps of delivery checks on fleets with known faulty hosts, for the false-alarm and miss rates.

A fleet is checked several times, as repaired hosts come back; what each sweep delivers teaches the
next one. Healthy hosts differ from each other by 0.5 to 2 %, single measurements by about as much,
and one in a hundred is a stray, far too low. A sweep may run warm (all hosts 2 % slower).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from diagnosis.checks.output import Ending, Output
from diagnosis.checks.suite import Item, Rule, Suite

FAULTS = ("slow", "configuration", "broken", "hang", "garbled")


@dataclass
class SweepHost:
    """One host: its own factor of each item, and its fault with the item that it shows in."""

    name: str
    factors: Mapping[str, float]
    fault: str = ""
    item: str = ""
    size: float = 0.0


@dataclass
class SimulatedSweep:
    """The hosts of one sweep; `measure` answers an item on a host as often as it is asked."""

    suite: Suite
    hosts: list[SweepHost]
    usual: Mapping[str, float]
    rng: np.random.Generator
    warm: float = 1.0
    noise: float = 0.01
    strays: float = 0.01
    faulty: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.faulty = frozenset(host.name for host in self.hosts if host.fault)

    def measure(self, host: SweepHost, item: Item) -> Output:
        if host.item == item.code and host.fault == "hang":
            return Output(ending=Ending.TIMED_OUT, exit_code=None)
        if host.item == item.code and host.fault == "garbled":
            return Output("Segmentation fault\n", exit_code=139)
        return Output(f"reading {item.value} {self._value(host, item)}\ndone\n")

    def _value(self, host: SweepHost, item: Item) -> float | str:
        hit = host.item == item.code
        if item.criterion.rule == Rule.SAME:
            return "2" if hit and host.fault == "configuration" else "1"
        if item.criterion.rule == Rule.BOUND:
            return float(hit and host.fault == "broken")
        value = self.usual[item.code] * host.factors[item.code] * self.warm
        value *= 1 + self.noise * float(self.rng.standard_t(5))
        if self.rng.random() < self.strays:
            value *= float(self.rng.uniform(0.5, 0.9))
        return value * (1 - host.size) if hit and host.fault == "slow" else value


def sweeps_of_a_fleet(
    suite: Suite, rng: np.random.Generator, *, sweeps: int = 4
) -> Iterator[SimulatedSweep]:
    """Sweeps of one fleet of 8 to 64 hosts, 2 to 12 % of them faulty, slow ones by 8 to 50 %."""
    numeric = [item.code for item in suite.items if item.criterion.rule == Rule.FLEET]
    usual = {code: float(10 ** rng.uniform(1, 5)) for code in numeric}
    spread, noise = rng.uniform(0.005, 0.02), float(rng.uniform(0.003, 0.015))
    for number in range(sweeps):
        hosts = [
            SweepHost(
                f"node-{number}-{place:03d}",
                {code: float(1 + spread * rng.normal()) for code in numeric},
            )
            for place in range(int(rng.integers(8, 65)))
        ]
        share = rng.uniform(0.02, 0.12)
        for host in hosts:
            if rng.random() < share:
                _break(host, suite, rng)
        warm = 0.98 if rng.random() < 0.1 else 1.0
        yield SimulatedSweep(suite, hosts, usual, rng, warm, noise)


def _break(host: SweepHost, suite: Suite, rng: np.random.Generator) -> None:
    host.fault = str(rng.choice(FAULTS, p=[0.5, 0.15, 0.2, 0.1, 0.05]))
    rules = {"slow": Rule.FLEET, "configuration": Rule.SAME, "broken": Rule.BOUND}
    wanted = rules.get(host.fault)
    items = [item.code for item in suite.items if wanted in {None, item.criterion.rule}]
    host.item = str(rng.choice(items))
    host.size = float(rng.uniform(0.08, 0.5))
