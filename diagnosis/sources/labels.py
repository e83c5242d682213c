"""From a series' labels to the host and device that it is about."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType

from diagnosis.core.target import normalise_host


class EntityKind(StrEnum):
    """What one series of a metric is about."""

    GPU = "gpu"
    NIC = "nic"
    HOST = "host"
    RANK = "rank"
    SWITCH_PORT = "switch_port"


#: Exporter → labels that may name the host. dcgm-exporter wrote `Hostname` and now `hostname`;
#: AMD's exporter
#: writes `hostname`; node_exporter has the scrape address alone, Kubernetes set-ups add `node`.
HOST_LABELS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "node": ("instance", "node"),
        "gpu": ("Hostname", "hostname", "node", "instance"),
        "job": ("node", "hostname", "instance"),
        "switch": ("sysName", "instance"),
    }
)


@dataclass(frozen=True)
class LabelMap:
    """How this source's labels name hosts.

    `host_labels` maps an exporter to the labels that may name the host. `aliases` maps other names
    of a host (an address of the scrape, say) to the placement's name.
    """

    host_labels: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: HOST_LABELS)
    aliases: Mapping[str, str] = field(default_factory=dict)

    def labels_of(self, exporter: str) -> tuple[str, ...]:
        return self.host_labels.get(exporter, ("instance",))

    def names_of(self, hosts: tuple[str, ...]) -> tuple[str, ...]:
        """The hosts' own names and their aliases, as label values may show them."""
        wanted = {normalise_host(host) for host in hosts}
        others = (other for other, host in self.aliases.items() if normalise_host(host) in wanted)
        return (*hosts, *others)

    def host_of(
        self, labels: Mapping[str, str], exporter: str, wanted: Mapping[str, str]
    ) -> tuple[str, str] | None:
        """The label that names a wanted host, and the host in the placement's spelling.

        `wanted` maps normalised names to the placement's spelling. None for other hosts' series.
        """
        for label in self.labels_of(exporter):
            name = normalise_host(without_brackets(labels.get(label, "")))
            host = wanted.get(self._aliases.get(name, name))
            if host is not None:
                return label, host
        return None

    @cached_property
    def _aliases(self) -> Mapping[str, str]:
        return {normalise_host(k): normalise_host(v) for k, v in self.aliases.items()}


def without_brackets(address: str) -> str:
    """`[fe80::1]:9100` → `fe80::1`: a literal IPv6 address without its port."""
    return address[1:].split("]", 1)[0] if address.startswith("[") else address


def device_of(labels: Mapping[str, str], kind: EntityKind) -> str | None:
    """The device's name on its host; None for a series about the host itself."""
    return _DEVICES[kind](labels)


def _gpu(labels: Mapping[str, str]) -> str | None:
    """The GPU's index; a MIG instance as `index.instance`; its UUID where there is no index."""
    index = labels.get("gpu") or labels.get("gpu_id") or labels.get("minor_number")
    name = index or labels.get("UUID") or labels.get("gpu_uuid") or labels.get("device")
    instance = labels.get("GPU_I_ID")
    return f"{name}.{instance}" if name and instance else name


def _nic(labels: Mapping[str, str]) -> str | None:
    """The NIC; with its port where that is not the first and, on most NICs, only one."""
    device, port = labels.get("device"), labels.get("port", "1")
    return device if device is None or port in {"", "1"} else f"{device}:{port}"


def _rank(labels: Mapping[str, str]) -> str | None:
    return f"rank {labels['rank']}" if labels.get("rank") else None


def _switch_port(labels: Mapping[str, str]) -> str | None:
    return labels.get("ifName") or labels.get("ifDescr") or labels.get("ifIndex")


_DEVICES: Mapping[EntityKind, Callable[[Mapping[str, str]], str | None]] = MappingProxyType(
    {
        EntityKind.GPU: _gpu,
        EntityKind.NIC: _nic,
        EntityKind.HOST: lambda _: None,
        EntityKind.RANK: _rank,
        EntityKind.SWITCH_PORT: _switch_port,
    }
)
