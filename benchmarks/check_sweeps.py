"""Simulated sweeps through the verdict of the delivery check, with the repeats that it asks for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from diagnosis.checks.criteria import Reading
from diagnosis.checks.output import Output
from diagnosis.checks.suite import Suite, shipped
from diagnosis.checks.verdict import BatchVerdict, Decision, Judge, Status
from diagnosis.simulator.check_sweeps import SimulatedSweep, sweeps_of_a_fleet


@dataclass
class Rates:
    """Hosts by truth and decision."""

    healthy: int = 0
    healthy_held: int = 0
    healthy_repeated: int = 0
    faulty: int = 0
    faulty_delivered: int = 0

    def add(self, sweep: SimulatedSweep, verdict: BatchVerdict) -> None:
        for host in verdict.hosts:
            bad = host.host in sweep.faulty
            self.faulty += bad
            self.healthy += not bad
            self.faulty_delivered += bad and host.decision == Decision.DELIVER
            self.healthy_held += not bad and host.decision == Decision.HOLD
            self.healthy_repeated += not bad and host.decision == Decision.REPEAT


def checked(fleets: int, *, seed: int, sweeps: int = 4) -> Rates:
    """`fleets` × `sweeps` sweeps of the full suite."""
    rates, suite = Rates(), as_readings(shipped("full"))
    for number in range(fleets):
        rng = np.random.default_rng([seed, number])
        for sweep, verdict in fleet_of_sweeps(suite, rng, sweeps):
            rates.add(sweep, verdict)
    return rates


def fleet_of_sweeps(
    suite: Suite, rng: np.random.Generator, sweeps: int
) -> Iterator[tuple[SimulatedSweep, BatchVerdict]]:
    """One fleet's sweeps; each learns from the ones before."""
    history: dict[str, dict[str, Reading]] = {}
    for sweep in sweeps_of_a_fleet(suite, rng, sweeps=sweeps):
        verdict = judged(sweep, Judge(suite, history))
        for item, values in verdict.learned.items():
            history.setdefault(item, {}).update(values)
        yield sweep, verdict


def judged(sweep: SimulatedSweep, judge: Judge) -> BatchVerdict:
    outputs: dict[str, dict[str, list[Output]]] = {
        host.name: {
            item.code: [sweep.measure(host, item) for _ in range(item.rounds)]
            for item in sweep.suite.items
        }
        for host in sweep.hosts
    }
    verdict = judge(outputs)
    by_name = {host.name: host for host in sweep.hosts}
    for host in verdict.hosts:
        for reason in host.reasons:
            if reason.status == Status.REPEAT:
                again = sweep.measure(by_name[host.host], sweep.suite.item(reason.item))
                outputs[host.host][reason.item].append(again)
    return judge(outputs)


def as_readings(suite: Suite) -> Suite:
    """The suite with every tool's output replaced by plain readings: the criteria are measured."""
    items = (
        replace(one, parser="readings", value=one.code.replace("-", "_")) for one in suite.items
    )
    return replace(suite, items=tuple(items))
