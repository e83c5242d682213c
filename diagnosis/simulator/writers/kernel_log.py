"""A host's kernel log: boot, chatter of a healthy machine, and the fault's own lines.

In dmesg's forms (`[seconds]`, or `[Mon Mar  2 12:10:03 2026]` with -T) or journalctl's. The boot's
lines stand in `kernel_boot.txt`; one that names a GPU or NIC is repeated for each of the host's.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from diagnosis.simulator.cluster import Host
from diagnosis.simulator.job import Job
from diagnosis.simulator.story import Line
from diagnosis.simulator.writers.clock import ctime, syslog

_CHATTER_S = 7200.0
_AER_SHARE = 0.15
_PERF = (
    "perf: interrupt took too long ({low} > 2500), lowering "
    "kernel.perf_event_max_sample_rate to 79000"
)
_AUDIT = (
    'audit: type=1400 audit({second}.412:118): apparmor="STATUS" operation="profile_load" '
    'profile="unconfined" name="docker-default" pid={pid} comm="apparmor_parser"'
)
_JOURNAL = (
    "systemd-journald[{low}]: Data hash table of /run/log/journal has a fill level at 75.0, "
    "suggesting rotation."
)
_HARMLESS = (
    _PERF,
    _AUDIT,
    "docker0: port 1(veth{pid:07x}) entered forwarding state",
    _JOURNAL,
    "hrtimer: interrupt took {pid} ns",
)


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


@cache
def _boot_texts() -> tuple[str, ...]:
    return tuple((Path(__file__).parent / "kernel_boot.txt").read_text().splitlines())


def _boot(host: Host) -> Iterator[Line]:
    texts: list[str] = []
    for text in _boot_texts():
        if "{gpu." in text:
            texts += [text.format(gpu=gpu) for gpu in host.gpus]
        elif "{nic." in text:
            texts += [text.format(nic=nic) for nic in host.nics]
        else:
            texts.append(text)
    for number, text in enumerate(texts):
        yield Line(0.9 + 0.31 * number - host.uptime, text)


def _chatter(job: Job, host: Host, until: float) -> Iterator[Line]:
    """Harmless lines in the two hours before the end; on some hosts a corrected PCIe error."""
    rng = job.rng("chatter", job.cluster.hosts.index(host))
    begin = until - _CHATTER_S
    for _ in range(int(rng.integers(3, 9))):
        at, pid = float(rng.uniform(begin, until)), int(rng.integers(4000, 64_000))
        text = _HARMLESS[int(rng.integers(len(_HARMLESS)))]
        second = job.host_ns(host, at) // 10**9
        yield Line(at, text.format(low=2501 + pid % 900, pid=pid, second=second))
    if rng.random() < _AER_SHARE:
        nic = host.nics[int(rng.integers(len(host.nics)))]
        yield from _corrected_aer(nic.pci, float(rng.uniform(begin, until)))


def _corrected_aer(pci: str, at: float) -> Iterator[Line]:
    """A corrected link error: counted by the hardware, retried, no harm done."""
    texts = (
        f"pcieport 0000:{pci[5:7]}:01.0: AER: Corrected error received: {pci}",
        f"mlx5_core {pci}: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)",
        f"mlx5_core {pci}:   device [15b3:1021] error status/mask=00000001/0000e000",
        f"mlx5_core {pci}:    [ 0] RxErr                 ",
    )
    for count, text in enumerate(texts):
        yield Line(at + 1e-4 * count, text)
