"""The same generated log in other shapes: container and journal JSON, Windows line ends, floods."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
HOSTS = 64


def container_json(lines: Iterator[str]) -> Iterator[str]:
    """Kubernetes: one object a line, its message with a line feed."""
    for number, line in enumerate(lines):
        told = {"log": f"{line}\n", "stream": "stderr", "time": f"2025-11-30T06:{_clock(number)}Z"}
        yield json.dumps(told) + "\n"


def journal_json(lines: Iterator[str]) -> Iterator[str]:
    """`journalctl -o json` of many hosts together."""
    for number, line in enumerate(lines):
        told = {
            "MESSAGE": _COLOUR.sub("", line),
            "__REALTIME_TIMESTAMP": str(1_764_500_000_000_000 + number * 1000),
            "_HOSTNAME": f"node-{number % HOSTS:03d}",
            "SYSLOG_IDENTIFIER": "python",
        }
        yield json.dumps(told) + "\n"


def windows_ends(lines: Iterator[str]) -> Iterator[str]:
    return (f"{line}\r\n" for line in lines)


def kernel_flood(lines: Iterator[str]) -> Iterator[str]:
    """Every line an Xid, no two alike."""
    for number, _ in enumerate(lines):
        yield (
            f"[{number // 100:5d}.{number:06d}] NVRM: Xid (PCI:0000:{number % 8:02x}:00): 13, "
            f"pid={number}, name=python, Graphics Exception: ESR {number:#x}\n"
        )


SHAPES: dict[str, Callable[[Iterator[str]], Iterator[str]]] = {
    "container JSON": container_json,
    "journal JSON": journal_json,
    "Windows ends": windows_ends,
    "kernel flood": kernel_flood,
}


def write_shape(source: Path, target: Path, shape: str, size: int) -> None:
    """`target` gets the lines of the first `size` bytes of `source` in another shape."""
    with source.open("rb") as stream:
        text = stream.read(size).decode()
    lines = iter(text.replace("\r", "\n").split("\n"))
    with target.open("w", encoding="utf-8", newline="") as out:
        out.writelines(SHAPES[shape](lines))


def _clock(number: int) -> str:
    return f"{number // 60 % 60:02d}:{number % 60:02d}.{number % 1_000_000:06d}"
