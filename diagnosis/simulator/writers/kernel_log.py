"""A host's kernel log: boot, chatter of a healthy machine, and the fault's own lines.

In dmesg's forms (`[seconds]`, or `[Mon Mar  2 12:10:03 2026]` with -T) or journalctl's.
"""

from collections.abc import Iterator

from diagnosis.simulator.cluster import Host
from diagnosis.simulator.job import Job
from diagnosis.simulator.story import Line
from diagnosis.simulator.writers.clock import ctime, syslog

_DRIVER = "570.158.01"


def kernel_log(job: Job, host: Host, fault: tuple[Line, ...], until: float) -> str:
    """The host's log up to `until` seconds after the job's start."""
    lines = [*_boot(host), *_chatter(job, host, until), *fault]
    lines.sort(key=lambda line: line.time)
    return "".join(_record(job, host, line) for line in lines)


def _record(job: Job, host: Host, line: Line) -> str:
    form, ns = job.options.kernel_form, job.host_ns(host, line.time)
    if form == "journal":
        stamp = f"{syslog(ns)} {host.name} kernel: "
        return "".join(f"{stamp}{row}\n" for row in line.text.split("\n"))
    stamp = f"[{ctime(ns)}] "
    if form == "monotonic":
        stamp = f"[{max(0.0, host.uptime + line.time):12.6f}] "
    first, *rest = line.text.split("\n")
    return f"{stamp}{first}\n" + "".join(f"{' ' * len(stamp)}{row}\n" for row in rest)


def _boot(host: Host) -> Iterator[Line]:
    start = -host.uptime
    texts = [
        "Linux version 5.15.0-131-generic (buildd@lcy02-amd64-057) (gcc (Ubuntu 11.4.0-1ubuntu1~22.04)"
        " 11.4.0, GNU ld (GNU Binutils for Ubuntu) 2.38) #141-Ubuntu SMP",
        "Command line: BOOT_IMAGE=/boot/vmlinuz-5.15.0-131-generic root=/dev/md0 ro iommu=pt "
        "pci=realloc=off console=ttyS0,115200n8",
        "DMI: GPU Server/X13DEG-OAD, BIOS 2.1 03/14/2025",
        "smpboot: CPU0: Intel(R) Xeon(R) Platinum 8480C (family: 0x6, model: 0x8f, stepping: 0x8)",
        "ACPI: PCI Interrupt Link [LNKA] enabled at IRQ 11",
        "pci 0000:00:1f.0: quirk: [io  0x0500-0x057f] claimed by ICH6 ACPI/GPIO/TCO",
        "nvme nvme0: 128/0/0 default/read/poll queues",
        "EXT4-fs (md0): mounted filesystem with ordered data mode. Opts: (null). Quota mode: none.",
        "IPMI System Interface driver.",
        "EDAC MC0: Giving out device to module i10nm_edac controller Intel_10nm Socket#0 IMC#0",
        "nvidia: loading out-of-tree module taints kernel.",
        "nvidia: module license 'NVIDIA' taints kernel.",
        "nvidia-nvlink: Nvlink Core is being initialized, major device number 511",
        f"NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  {_DRIVER}  Release Build  "
        "(dvs-builder@U22-I3-B10-02-5)  Mon Jun  2 13:13:04 UTC 2025",
        *(f"nvidia {gpu.pci}.0: enabling device (0140 -> 0142)" for gpu in host.gpus),
        f"nvidia-modeset: Loading NVIDIA UNIX Open Kernel Mode Setting Driver for x86_64  {_DRIVER}  "
        "Release Build",
        "nvidia-uvm: Loaded the UVM driver, major device number 508.",
        *(f"mlx5_core {nic.pci}: firmware version: 28.43.2026" for nic in host.nics),
        *(f"mlx5_core {nic.pci} {nic.netdev}: Link up" for nic in host.nics),
        *(f"IPv6: ADDRCONF(NETDEV_CHANGE): {nic.netdev}: link becomes ready" for nic in host.nics),
        "nvidia_peermem: module loaded",
        "FS-Cache: Netfs 'nfs' registered for caching",
        "NFS: Registering the id_resolver key type",
    ]
    for number, text in enumerate(texts):
        yield Line(start + 0.9 + 0.31 * number, text)


def _chatter(job: Job, host: Host, until: float) -> Iterator[Line]:
    """Harmless lines in the two hours before the end: corrected AER, audit, timers."""
    rng = job.rng("chatter", job.cluster.hosts.index(host))
    begin = until - 7200.0
    for _ in range(int(rng.integers(3, 9))):
        at = float(rng.uniform(begin, until))
        yield Line(at, _harmless(int(rng.integers(5)), float(rng.random())))
    if rng.random() < 0.15:
        nic = host.nics[int(rng.integers(len(host.nics)))]
        yield from _corrected_aer(nic.pci, float(rng.uniform(begin, until)))


def _harmless(which: int, draw: float) -> str:
    pid = 4000 + int(draw * 60_000)
    return (
        f"perf: interrupt took too long ({2500 + int(draw * 900)} > 2500), lowering "
        "kernel.perf_event_max_sample_rate to 79000",
        f"audit: type=1400 audit(17724{pid:05}.412:118): apparmor=\"STATUS\" "
        f"operation=\"profile_load\" profile=\"unconfined\" name=\"docker-default\" pid={pid} "
        "comm=\"apparmor_parser\"",
        f"docker0: port 1(veth{pid:07x}) entered forwarding state",
        f"systemd-journald[{900 + pid % 200}]: Data hash table of /run/log/journal has a fill level "
        "at 75.0, suggesting rotation.",
        f"hrtimer: interrupt took {3000 + pid} ns",
    )[which]  # fmt: skip


def _corrected_aer(pci: str, at: float) -> Iterator[Line]:
    """A corrected link error: counted by the hardware, retried, no harm done."""
    for count, text in enumerate((
        f"pcieport 0000:{pci[5:7]}:01.0: AER: Corrected error received: {pci}",
        f"mlx5_core {pci}: PCIe Bus Error: severity=Corrected, type=Data Link Layer, "
        "(Transmitter ID)",
        f"mlx5_core {pci}:   device [15b3:1021] error status/mask=00001000/00002000",
        f"mlx5_core {pci}:    [12] Timeout               ",
    )):  # fmt: skip
        yield Line(at + 1e-4 * count, text)
