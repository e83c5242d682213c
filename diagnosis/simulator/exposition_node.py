"""What a node exporter tells from which a host's CPU, memory and disk are worked out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from diagnosis.core.metrics import FloatArray

#: A host's memory in GB, of which the exporter tells what is available.
MEMORY_GB = 2000.0


@dataclass(frozen=True, slots=True)
class NodeFamily:
    """One family: its labels beside the host's, whether it counts, and value = `at + by · told`."""

    name: str
    metric: str
    labels: str = ""
    counts: bool = False
    at: float = 0.0
    by: float = 1.0

    def of(self, told: FloatArray) -> FloatArray:
        """What the exporter shows where the metric is `told`; of a counter its rate."""
        return np.asarray(np.maximum(self.at + self.by * told.astype(np.float64), 0.0))


_CPU: Final = "node_cpu_seconds_total"
NODE_FAMILIES: Final = (
    NodeFamily(_CPU, "cpu_util", 'cpu="0",mode="idle"', counts=True, at=1.0, by=-0.01),
    NodeFamily(_CPU, "cpu_iowait", 'cpu="0",mode="iowait"', counts=True, by=0.01),
    NodeFamily("node_memory_MemTotal_bytes", "host_mem_gb", at=1e9 * MEMORY_GB, by=0.0),
    NodeFamily("node_memory_MemAvailable_bytes", "host_mem_gb", at=1e9 * MEMORY_GB, by=-1e9),
    NodeFamily(
        "node_disk_read_bytes_total", "disk_read_mbps", 'device="nvme0n1"', counts=True, by=1e6
    ),
)


def by_name(metrics: Sequence[str]) -> Iterator[tuple[str, Sequence[NodeFamily]]]:
    """The families that these metrics are asked from; what shares a name is one block of text."""
    blocks: Mapping[str, list[NodeFamily]] = {family.name: [] for family in NODE_FAMILIES}
    for family in NODE_FAMILIES:
        if family.metric in metrics:
            blocks[family.name].append(family)
    return ((name, found) for name, found in blocks.items() if found)
