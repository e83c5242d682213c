"""Generated training logs: benign lines, with a share of lines of known faults among them.

Benign lines are what a healthy job prints: boot, link training, NCCL and framework chatter, steps,
retries that succeed; `healthy_lines.txt` adds lines of many programs whose words sound worse than
they are. Fault lines are the taxonomy's own examples. A tenth of the lines is coloured or a
progress bar that rewrites itself with carriage returns.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

RANKS = 512
RANKS_PER_HOST = 8
START = 1_764_500_000.0
#: The share of lines with colours or carriage returns.
MESSY = 0.1
#: Different benign messages in one log.
POOL = 8192

#: Lines that no shipped signature matches.
PLAIN = (
    "step {n} | loss 2.{k:04d} | lr 1.5e-04 | grad norm 0.{k:04d} | tokens/s {n} | mfu 0.41",
    "loading shard /data/c4/part-{k:05d}.tar ({n} samples, {d} workers)",
    "saved checkpoint iter {n} to /checkpoints/run-7/iter_{n:07d} in {d}.{k:04d} s",
    "data loader worker {d}: prefetch queue {d}/64, refill took {k} us",
    "{host}:{n}:{n} [{d}] NCCL INFO Channel {d:02d}/0 : {d}[0] -> {d}[1] via P2P/CUMEM/read",
    "{host}:{n}:{n} [{d}] NCCL INFO Connected all rings, use ring PXN 0 GDR 1",
    "evaluating on {n} samples, perplexity {d}.{k:04d}",
    "memory: allocated {d}.{k} GiB, reserved {d}.9 GiB, fragmentation 0.0{d}",
    "gradient bucket {d} reduced in {k} us, {n} elements, overlap 0.9{d}",
)

#: What a healthy job prints besides: boot, link training, retries that succeed. What follows a NUL
#: is the same process's next line.
HEALTHY = (
    "{host}:{n}:{n} [{d}] NCCL INFO NET/IB : Using [0]mlx5_{d}:1/IB [RO]; OOB eth0:10.0.0.{d}<0>",
    "mlx5_core 0000:{d}a:00.0: Port module event: module {d}, Cable plugged",
    "mlx5_core 0000:{d}a:00.0 ens{d}f0np0: Link up",
    "pcieport 0000:{d}0:01.0: AER: enabled with IRQ {k}",
    "nvidia-nvlink: Nvlink Core is being initialized, major device number 5{d:02d}",
    "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15",
    "retrying request to the tracker (attempt 1 of 5), succeeded after {k} ms",
    "torch.distributed: process group initialised, backend nccl, world size 512",
    "nfs: server storage-{d} not responding, still trying\0nfs: server storage-{d} OK",
    "{host}:{n}:{n} [{d}] NCCL INFO comm 0x7f{n:06x} rank {d} nranks 512 - Init DONE",
    "UserWarning: The given buffer is not writable, and PyTorch does not support this",
    "Gradient overflow. Skipping step, loss scaler 0 reducing loss scale to {n}",
    "EDAC MC0: Giving out device to module skx_edac controller Skylake Socket#0 IMC#0",
    "systemd[1]: Started NVIDIA fabric manager service.",
)
#: What hardware corrects now and then on every host, and one outage that ends.
RARE = (
    "[{k:5d}.012233] mce: [Hardware Error]: Machine check events logged",
    "[{k:5d}.112233] {{1}}[Hardware Error]: event severity: corrected",
    "[{k:5d}.212233] pcieport 0000:16:01.0: AER: Corrected error received: 0000:17:00.0",
    "[{k:5d}.312233] EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0",
    (
        "Mar  4 02:00:00 {host} kernel: Lustre: scratch-OST0003-osc-ffff8f00: Connection to "
        "scratch-OST0003 (at 10.0.9.3@o2ib) was lost; in progress operations will wait\n"
        "Mar  4 02:00:20 {host} kernel: Lustre: scratch-OST0003-osc-ffff8f00: Connection "
        "restored to 10.0.9.3@o2ib (at 10.0.9.3@o2ib)"
    ),
)
RARE_SHARE = 0.00005


def healthy_lines() -> tuple[str, ...]:
    """Whole lines, with their own prefixes, of programs on healthy hosts and in healthy jobs."""
    found = Path(__file__).with_name("healthy_lines.txt").read_text(encoding="utf-8")
    return tuple(found.splitlines())


def generate(
    size: int,
    *,
    rate: float,
    faults: Sequence[str],
    seed: int = 1,
    benign: Sequence[str] = PLAIN,
    whole: Sequence[str] = (),
) -> Iterator[bytes]:
    """Chunks of about `size` bytes in all; a share `rate` of the lines is one of `faults`.

    A tenth of the lines has colours or carriage returns. Where `whole` lines are given, every
    second line is one of them.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    pool = [_filled(chance, benign) for _ in range(POOL)]
    wholes = [_elsewhere(chance, line) for line in whole for _ in range(8)]
    now, given = START, 0
    while given < size:
        lines = []
        for _ in range(4096):
            now += chance.random() * 0.004
            lines.append(_line(chance, now, rate, faults, pool))
            if wholes:
                rare = chance.random() < RARE_SHARE
                lines.append((_filled(chance, RARE) if rare else chance.choice(wholes)) + "\n")
        chunk = "".join(lines).encode()
        given += len(chunk)
        yield chunk


def write_log(path: Path, size: int, *, rate: float, faults: Sequence[str], seed: int = 1) -> None:
    """A file of generated lines."""
    with path.open("wb") as stream:
        for chunk in generate(size, rate=rate, faults=faults, seed=seed):
            stream.write(chunk)


def _line(
    chance: random.Random, now: float, rate: float, faults: Sequence[str], pool: Sequence[str]
) -> str:
    rank = int(chance.random() * RANKS)
    look = chance.random()
    if look < MESSY / 2:
        return _progress_bar(chance)
    if faults and chance.random() < rate:
        message = chance.choice(faults)
    else:
        message = pool[int(chance.random() * POOL)]
    stamp = _stamp(now)
    if look < MESSY:
        head = f"\x1b[36m{stamp}\x1b[0m \x1b[1m[rank{rank}]:\x1b[0m "
    else:
        head = f"{stamp} [rank{rank}]: "
    return f"{head}{message}\n" if "\0" not in message else _pair(head, message)


def _pair(head: str, message: str) -> str:
    return "".join(f"{head}{part}\n" for part in message.split("\0"))


def _filled(chance: random.Random, benign: Sequence[str]) -> str:
    return chance.choice(benign).format(
        n=chance.randrange(100_000),
        k=chance.randrange(10_000),
        d=chance.randrange(1, 10),
        host=f"node-{chance.randrange(1, RANKS // RANKS_PER_HOST):03d}",
    )


def _elsewhere(chance: random.Random, line: str) -> str:
    """The same line of another host and process."""
    host = f"node-{chance.randrange(1, RANKS // RANKS_PER_HOST):03d}"
    return line.replace("node-01", host).replace("4711", str(chance.randrange(300, 99_999)))


def _progress_bar(chance: random.Random) -> str:
    done = chance.randrange(10, 90)
    steps = (f"Epoch 3:  {done + i}%|####     | {done + i}/100 [00:{done}<01:07]" for i in range(4))
    return "\r".join(steps) + "\n"


def _stamp(now: float) -> str:
    second = int(now)
    hour, minute = second // 3600 % 24, second // 60 % 60
    return f"2025-11-30 {hour:02d}:{minute:02d}:{second % 60:02d},{int(now * 1000) % 1000:03d}"
