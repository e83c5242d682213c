"""The machines under the job: hosts with GPUs, NICs, clocks and pids, and the network above."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_DNS, uuid5

import numpy as np

from diagnosis.core.placement import Placement, RankPlace
from diagnosis.simulator.layout import Layout

_GPU_BUSES = ("1b", "43", "52", "61", "9d", "c3", "d1", "df")
_NIC_BUSES = ("18", "3c", "4d", "5e", "9a", "c0", "ce", "dc")
_HOSTS_PER_POD = 32
_FIRST_SERIAL = 1_650_000_000_000


@dataclass(frozen=True, slots=True)
class Gpu:
    index: int
    pci: str
    uuid: str
    serial: str


@dataclass(frozen=True, slots=True)
class Nic:
    """An RDMA device (`mlx5_0`) with its network interface; NIC i serves GPU i."""

    name: str
    pci: str
    netdev: str
    tor: str
    port: str


@dataclass(frozen=True)
class Host:
    """`skew` is what its clock is ahead, in seconds; `uptime` its seconds up at the job's start."""

    name: str
    address: str
    pod: str
    skew: float
    uptime: float
    first_pid: int
    gpus: tuple[Gpu, ...]
    nics: tuple[Nic, ...]


@dataclass(frozen=True)
class Cluster:
    """Hosts in rank order; rank r runs on host r // gpus_per_host."""

    hosts: tuple[Host, ...]
    gpus_per_host: int

    def host_of(self, rank: int) -> Host:
        return self.hosts[rank // self.gpus_per_host]

    def local_rank(self, rank: int) -> int:
        return rank % self.gpus_per_host

    def gpu_of(self, rank: int) -> Gpu:
        return self.host_of(rank).gpus[self.local_rank(rank)]

    def nic_of(self, rank: int) -> Nic:
        return self.host_of(rank).nics[self.local_rank(rank)]

    def pid_of(self, rank: int) -> int:
        return self.host_of(rank).first_pid + 1 + self.local_rank(rank)

    def ranks_of(self, host: Host) -> range:
        start = self.hosts.index(host) * self.gpus_per_host
        return range(start, start + self.gpus_per_host)

    def spans_hosts(self, ranks: Sequence[int]) -> bool:
        return ranks[0] // self.gpus_per_host != ranks[-1] // self.gpus_per_host


def build_cluster(
    hosts: int, gpus_per_host: int, *, clock_skew_s: float, rng: np.random.Generator
) -> Cluster:
    """A cluster of like hosts, 32 to a pod, each NIC on its own rail's leaf switch."""
    if hosts < 1 or gpus_per_host < 1:
        raise ValueError("hosts and gpus_per_host must each be at least 1")
    skews = clock_skew_s * rng.standard_normal(hosts)
    uptimes = rng.uniform(2e5, 6e6, hosts)
    pids = rng.integers(2_000, 900_000, hosts)
    width = max(3, len(str(hosts)))
    built = [
        _host(
            number,
            name=f"node-{number + 1:0{width}}",
            skew=float(skews[number]),
            uptime=float(uptimes[number]),
            pid=int(pids[number]),
            gpus=gpus_per_host,
        )
        for number in range(hosts)
    ]
    return Cluster(tuple(built), gpus_per_host)


def _host(number: int, *, name: str, skew: float, uptime: float, pid: int, gpus: int) -> Host:
    pod = number // _HOSTS_PER_POD
    return Host(
        name=name,
        address=f"10.{20 + number // 60_000}.{number // 250 % 250}.{number % 250 + 2}",
        pod=f"pod-{pod + 1}",
        skew=skew,
        uptime=uptime,
        first_pid=pid,
        gpus=tuple(_gpu(name, index) for index in range(gpus)),
        nics=tuple(_nic(index, pod, number % _HOSTS_PER_POD) for index in range(gpus)),
    )


def _gpu(host: str, index: int) -> Gpu:
    """A host's GPU is the same part in every simulation."""
    identity = uuid5(NAMESPACE_DNS, f"gpu-{index}.{host}")
    return Gpu(
        index=index,
        pci=f"0000:{_bus(_GPU_BUSES, index)}:00",
        uuid=f"GPU-{identity}",
        serial=str(_FIRST_SERIAL + identity.time_low),
    )


def _nic(index: int, pod: int, slot: int) -> Nic:
    bus = _bus(_NIC_BUSES, index)
    return Nic(
        name=f"mlx5_{index}",
        pci=f"0000:{bus}:00.0",
        netdev=f"ens{int(bus, 16)}np0",
        tor=f"tor-{pod + 1}-{index + 1}",
        port=f"Ethernet{4 * slot}",
    )


def _bus(known: tuple[str, ...], index: int) -> str:
    return known[index] if index < len(known) else f"{index:02x}"


def placement_of(cluster: Cluster, layout: Layout) -> Placement:
    """Where each rank runs and what it is in the parallel layout."""
    return Placement.of(_place(cluster, layout, rank) for rank in range(layout.world))


def _place(cluster: Cluster, layout: Layout, rank: int) -> RankPlace:
    place, gpu = layout.place(rank), cluster.gpu_of(rank)
    return RankPlace(
        rank=rank,
        host=cluster.host_of(rank).name,
        local_rank=cluster.local_rank(rank),
        gpu=gpu.index,
        gpu_uuid=gpu.uuid,
        nic=cluster.nic_of(rank).name,
        stage=place.stage,
        dp=place.dp,
        tp=place.tp,
    )


def topology_of(cluster: Cluster) -> dict[str, object]:
    """The contract's `topology.json`: hosts, their leaf switches by rail, and the cables."""
    return {
        "hosts": [
            {
                "name": host.name,
                "pod": host.pod,
                "tor": [nic.tor for nic in host.nics],
                "rails": {nic.name: nic.tor for nic in host.nics},
            }
            for host in cluster.hosts
        ],
        "links": [
            {"a": f"{host.name}/{nic.name}", "b": f"{nic.tor}/{nic.port}"}
            for host in cluster.hosts
            for nic in host.nics
        ],
    }
