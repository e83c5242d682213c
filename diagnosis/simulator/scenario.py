"""What a scenario is: a cause to inject, and what it leaves in the logs beside the symptoms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.story import Story


@dataclass(frozen=True)
class Scenario:
    """`inject` decides the fault from the job and its seed; `tell` knows what then happened.

    `defaults` are options that this scenario sets unless the caller asks for something else.
    """

    name: str
    summary: str
    inject: Callable[[Job], Injection]
    tell: Callable[[Run], Story]
    defaults: Mapping[str, Any] = field(default_factory=dict)
