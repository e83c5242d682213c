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
    ecc_double_bit,
    gpu_fallen_off_bus,
    hang_compute,
    healthy,
    healthy_midrun,
    host_oom,
    ib_link_down,
    missing_dump,
    nvlink_error,
    order_deadlock,
    process_killed,
    python_exception,
    slow_rank,
    storage_stale_handle,
)
from diagnosis.simulator.simulation import Simulation

SCENARIOS: Mapping[str, Scenario] = {
    module.SCENARIO.name: module.SCENARIO
    for module in (
        healthy,
        healthy_midrun,
        hang_compute,
        missing_dump,
        process_killed,
        gpu_fallen_off_bus,
        ecc_double_bit,
        nvlink_error,
        ib_link_down,
        call_mismatch,
        order_deadlock,
        cuda_oom,
        host_oom,
        python_exception,
        storage_stale_handle,
        slow_rank,
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
