"""Kernel records of broken parts, in the grammar of the NVIDIA, mlx5 and NFS drivers."""

from collections.abc import Iterator

from diagnosis.simulator.cluster import Gpu, Nic
from diagnosis.simulator.story import Line


def fallen_off_bus(gpu: Gpu, at: float) -> Iterator[Line]:
    """Xid 79: the GPU no longer answers on PCIe."""
    yield Line(at, f"NVRM: GPU at PCI:{gpu.pci}: {gpu.uuid}")
    yield Line(at + 1e-5, f"NVRM: GPU Board Serial Number: {gpu.serial}")
    yield Line(at + 2e-5, xid(gpu, 79, "GPU has fallen off the bus.", process=None))
    yield Line(at + 3e-5, f"NVRM: GPU {gpu.pci}.0: GPU has fallen off the bus.")
    yield Line(at + 4e-5, f"NVRM: GPU {gpu.pci}.0: GPU serial number is {gpu.serial}.")
    yield Line(
        at + 0.38,
        "NVRM: A GPU crash dump has been created. If possible, please run\n"
        "NVRM: nvidia-bug-report.sh as root to collect this data before\n"
        "NVRM: the NVIDIA kernel module is unloaded.",
    )
    yield Line(at + 0.41, recovery(gpu, "0x2 (Node Reboot Required)"))


def double_bit(gpu: Gpu, pid: int, at: float, *, partition: int) -> Iterator[Line]:
    """Xid 48 and 63: an uncorrectable memory error and the row that will be remapped for it."""
    text = (
        "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at "
        f"partition {partition}, subpartition {partition % 2}."
    )
    yield Line(at, f"NVRM: GPU at PCI:{gpu.pci}: {gpu.uuid}")
    yield Line(at + 1e-5, xid(gpu, 48, text, process=None))
    remap = "Row Remapper: New row marked for remapping, reset gpu to activate."
    yield Line(at + 3e-5, xid(gpu, 63, remap, process=None))
    contained = "Contained: SM (0x1). RST: No, D-RST: No"
    yield Line(at + 0.21, xid(gpu, 94, contained, process=pid))
    yield Line(at + 0.22, recovery(gpu, "0x4 (Drain and Reset)"))


def nvlink_fatal(gpu: Gpu, pid: int, at: float, *, link: int) -> Iterator[Line]:
    """Xid 74 on one link of a GPU, then the teardown of the channels that used it."""
    text = f"NVLink: fatal error detected on link {link}(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"
    yield Line(at, f"NVRM: GPU at PCI:{gpu.pci}: {gpu.uuid}")
    yield Line(at + 1e-5, xid(gpu, 74, text, process=pid))
    for channel in (8, 9, 12):
        yield Line(at + 0.01 * channel, xid(gpu, 45, f"Ch {channel:08x}", process=pid))
    yield Line(at + 0.52, recovery(gpu, "0x1 (GPU Reset Required)"))


def xid(gpu: Gpu, number: int, text: str, *, process: int | None) -> str:
    whose = (
        "pid='<unknown>', name=<unknown>" if process is None else f"pid={process}, name=python3.11"
    )
    return f"NVRM: Xid (PCI:{gpu.pci}): {number}, {whose}, {text}"


def recovery(gpu: Gpu, action: str) -> str:
    return (
        f"NVRM: Xid (PCI:{gpu.pci}): 154, GPU recovery action changed from 0x0 (None) to {action}"
    )


def link_down(nic: Nic, at: float) -> Iterator[Line]:
    yield Line(at, f"mlx5_core {nic.pci} {nic.netdev}: Link down")


def stale_export(server: str, at: float, draw: int) -> Iterator[Line]:
    """The file server answers with another file's identity, then not at all, then again."""
    old, new = f"0x{draw % 2**40:x}", f"0x{(draw * 7 + 11) % 2**40:x}"
    yield Line(at - 14.0, f"nfs: server {server} not responding, still trying")
    yield Line(at - 3.0, f"nfs: server {server} OK")
    yield Line(
        at,
        f"NFS: server {server} error: fileid changed\nfsid 0:52: expected fileid {old}, got {new}",
    )


def out_of_memory(pid: int, at: float, *, resident_kib: int) -> Iterator[Line]:
    """The kernel ends a process because the host has no memory left."""
    yield Line(
        at,
        "python3.11 invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|"
        "__GFP_COMP), order=0, oom_score_adj=0",
    )
    yield Line(
        at + 0.02,
        "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,"
        f"mems_allowed=0-1,global_oom,task_memcg=/system.slice,task=python3.11,"
        f"pid={pid},uid=1000",
    )
    yield Line(
        at + 0.021,
        f"Out of memory: Killed process {pid} (python3.11) "
        f"total-vm:{resident_kib * 2}kB, anon-rss:{resident_kib}kB, "
        "file-rss:812kB, shmem-rss:16384kB, UID:1000 pgtables:412004kB "
        "oom_score_adj:0",
    )
