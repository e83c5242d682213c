"""The scenarios. A new one adds a file here and one line in `SCENARIOS`."""

from collections.abc import Mapping
from typing import Any

from diagnosis.simulator.job import plan_job
from diagnosis.simulator.options import Options
from diagnosis.simulator.run import run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.scenarios import (
    call_mismatch,
    cuda_oom,
    gpu_fallen_off_bus,
    hang_compute,
    healthy,
    process_killed,
)
from diagnosis.simulator.simulation import Simulation

SCENARIOS: Mapping[str, Scenario] = {
    module.SCENARIO.name: module.SCENARIO
    for module in (
        healthy,
        hang_compute,
        process_killed,
        gpu_fallen_off_bus,
        cuda_oom,
        call_mismatch,
    )
}


def simulate(
    name: str, *, seed: int, hosts: int = 4, gpus_per_host: int = 8, **options: Any
) -> Simulation:
    """Simulate one incident; the same arguments give the same bytes.

    `options` are the fields of `Options`. Raises `ValueError` for a name or value that is unknown,
    and for a layout in which the fault cannot happen.
    """
    scenario = SCENARIOS.get(name)
    if scenario is None:
        raise ValueError(f"there is no scenario {name!r}; known are {', '.join(SCENARIOS)}")
    try:
        chosen = Options(**{**scenario.defaults, **options})
    except TypeError as error:
        raise ValueError(f"unknown option: {error}") from error
    job = plan_job(name, seed=seed, hosts=hosts, gpus_per_host=gpus_per_host, options=chosen)
    happened = run(job, scenario.inject(job))
    return Simulation(happened, scenario.tell(happened))
