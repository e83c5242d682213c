"""A real Prometheus for tests: backfilled, private, on a loopback port."""

import subprocess
import time
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from tests.ports import free_port
from tests.services import needed

Samples = Iterable[tuple[float, float | str]]


class Text(Protocol):
    """Something that can be written down in OpenMetrics."""

    def text(self) -> str: ...


class OpenMetrics:
    """OpenMetrics text under way: one block a family, as the format asks."""

    def __init__(self) -> None:
        self._families: dict[str, list[str]] = {}

    def add(self, name: str, labels: Mapping[str, str], samples: Samples) -> None:
        """One series with its (seconds since 1970, value) samples."""
        pairs = ",".join(f'{label}="{_escaped(value)}"' for label, value in labels.items())
        lines = self._families.setdefault(name, [])
        lines.extend(f"{name}{{{pairs}}} {value} {at:.3f}" for at, value in samples)

    def text(self) -> str:
        lines: list[str] = []
        for name, family in self._families.items():
            counter = name.endswith("_total")
            lines.append(f"# TYPE {name.removesuffix('_total') if counter else name} ")
            lines[-1] += "counter" if counter else "unknown"
            lines.extend(family)
        return "\n".join([*lines, "# EOF", ""])


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


@contextmanager
def prometheus(folder: Path, metrics: Text) -> Iterator[str]:
    """A Prometheus that holds `metrics`, as its URL; gone when the block ends."""
    program, tool = needed("prometheus", "prometheus"), needed("promtool", "prometheus")
    folder.mkdir(parents=True, exist_ok=True)
    text, config, data = folder / "metrics.om", folder / "prometheus.yml", folder / "data"
    text.write_text(metrics.text())
    config.write_text("global: {}\n")
    backfill = [tool, "tsdb", "create-blocks-from", "openmetrics", str(text), str(data)]
    subprocess.run(backfill, check=True, stdout=subprocess.DEVNULL)
    port = free_port()
    options = {
        "config.file": config,
        "storage.tsdb.path": data,
        "storage.tsdb.retention.time": "100y",
        "web.listen-address": f"127.0.0.1:{port}",
        "log.level": "error",
    }
    process = subprocess.Popen([program, *(f"--{name}={value}" for name, value in options.items())])
    try:
        _wait_until_ready(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait_until_ready(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/-/ready", timeout=2):  # noqa: S310 - our own URL
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("Prometheus did not get ready")
