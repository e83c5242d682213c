"""Loading simulated dumps as a careful reader would, without the project's own readers."""

import io
import pickle
from typing import Any

from diagnosis.simulator.simulation import Simulation


class _RefusingUnpickler(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"the dump asks for {module}.{name}")


def load(content: bytes) -> dict[str, Any]:
    dump: dict[str, Any] = _RefusingUnpickler(io.BytesIO(content)).load()
    return dump


def rank_of(name: str) -> int:
    return int(name.removesuffix(".json").rsplit("_", 1)[1])


def dumps_of(simulation: Simulation) -> dict[int, dict[str, Any]]:
    """Rank → its dump, in pickle form."""
    return {rank_of(name): load(simulation.files[name]) for name in dump_names(simulation)}


def dump_names(simulation: Simulation) -> list[str]:
    return [name for name in simulation.files if "_trace_rank_" in name]


def oldest_open(dump: dict[str, Any]) -> dict[str, Any] | None:
    """The first entry that never completed: what the rank waits in."""
    return next((entry for entry in dump["entries"] if entry["state"] != "completed"), None)


def logs_of(simulation: Simulation) -> dict[str, str]:
    return {name: simulation.files[name].decode() for name in simulation.files if ".log" in name}
