"""Triage speed on one core, beside ripgrep and a loop of Python's `re`, on generated logs.

Rates are bytes of log per second of processor time (user and system, of one thread), so that other
work on the machine counts less, and runs of ours and ripgrep's take turns. Reading the file,
mapping lines to ranks and hosts, and the verdict are included for ours. Compiling the patterns is
left out on both sides: a worker does it once, ripgrep's is what it takes on an empty file. Each of
our figures comes from a process of its own, whose peak memory is told. The last line is one JSON
object.
"""

import argparse
import json
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import process_time

from benchmarks.generated_logs import write_log
from benchmarks.log_shapes import SHAPES, write_shape
from diagnosis.core.evidence import Evidence
from diagnosis.engine import diagnose
from diagnosis.taxonomy.patterns import without_names
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.triage import scan

RATES = {"sparse": 0.001, "dense": 0.05}
#: Bytes of the dense log that are also tried in each other shape.
SHAPE_SAMPLE = 50_000_000
#: The loop of Python's `re` is so slow that it gets a sample of this many bytes.
RE_SAMPLE = 2 * 1024**2


def main() -> None:
    options = _options()
    if options.one is not None:
        _judge_one(Path(options.one), native=options.native)
        return
    patterns = [without_names(one.pattern) for one in Taxonomy.default().signatures]
    faults = [example for one in Taxonomy.default().signatures for example in one.examples]
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        logs = {}
        for name, rate in RATES.items():
            logs[name] = Path(folder) / f"{name}.log"
            write_log(logs[name], options.megabytes * 1_000_000, rate=rate, faults=faults)
        figures = _measure(logs, patterns, Path(folder), options.repeats)
        _print_shapes(logs["dense"], _Ripgrep.found(patterns, Path(folder)), Path(folder))
    _print_table(figures)
    _say(json.dumps(figures))


def _measure(
    logs: dict[str, Path], patterns: list[str], folder: Path, repeats: int
) -> dict[str, float | None]:
    ripgrep = _Ripgrep.found(patterns, folder)
    ours: dict[str, list[tuple[float, float]]] = {name: [] for name in logs}
    peers: dict[str, list[float]] = {name: [] for name in logs}
    for name in [*logs] * repeats:
        ours[name].append(_in_its_own_process(logs[name], native=True))
        if ripgrep is not None:
            peers[name].append(ripgrep.rate(logs[name]))
    fallback = [_in_its_own_process(logs["sparse"], native=False) for _ in range(repeats)]
    return {
        "ours_mb_s": _median(rate for rate, _ in ours["sparse"]),
        "fallback_mb_s": _median(rate for rate, _ in fallback),
        "ripgrep_mb_s": _median(peers["sparse"]),
        "re_mb_s": _python_re(logs["sparse"], patterns),
        "ours_dense_mb_s": _median(rate for rate, _ in ours["dense"]),
        "ripgrep_dense_mb_s": _median(peers["dense"]),
        "peak_mb": max(peak for _, peak in (*ours["sparse"], *ours["dense"], *fallback)),
    }


def _median(rates: Iterable[float]) -> float | None:
    told = list(rates)
    return round(statistics.median(told), 1) if told else None


def _in_its_own_process(log: Path, *, native: bool) -> tuple[float, float]:
    """MB/s and peak memory in MB of one triage."""
    command = [sys.executable, "-m", "benchmarks.bench_triage", "--one", str(log)]
    answer = subprocess.run(
        [*command, *(["--native"] if native else [])], check=True, capture_output=True, text=True
    )
    rate, peak = json.loads(answer.stdout)
    return rate, peak


def _judge_one(log: Path, *, native: bool) -> None:
    scan.NATIVE_FROM_BYTES = 0 if native else sys.maxsize
    evidence = Evidence.from_path(log)
    scan.matcher_for(Taxonomy.default(), evidence.size)
    started = process_time()
    answer = diagnose([evidence])
    seconds = process_time() - started
    assert answer.judged  # noqa: S101 - a benchmark that judged nothing measures nothing
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    _say(json.dumps([evidence.size / seconds / 1e6, round(peak, 1)]))


@dataclass(frozen=True)
class _Ripgrep:
    """ripgrep with all patterns, one thread, counting; `start`: seconds on an empty file."""

    command: tuple[str, ...]
    start: float

    @classmethod
    def found(cls, patterns: list[str], folder: Path) -> "_Ripgrep | None":
        program = shutil.which("rg")
        if program is None:
            _say("ripgrep is not installed (Debian: apt-get install ripgrep): left out")
            return None
        listed = folder / "patterns.txt"
        listed.write_text("".join(f"{pattern}\n" for pattern in patterns), encoding="utf-8")
        empty = folder / "empty.log"
        empty.write_bytes(b"")
        command = (program, "-j1", "--count", "--text", "--no-config", "-f", str(listed))
        start = statistics.median(_seconds([*command, str(empty)]) for _ in range(3))
        return cls(command, start)

    def rate(self, log: Path) -> float:
        """MB/s of one run."""
        taken = _seconds([*self.command, str(log)]) - self.start
        return log.stat().st_size / taken / 1e6


def _seconds(command: list[str]) -> float:
    """Processor time of a program's run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=False, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _python_re(log: Path, patterns: list[str]) -> float:
    compiled = [_as_python(pattern) for pattern in patterns]
    with log.open("rb") as stream:
        sample = stream.read(RE_SAMPLE)
    started = process_time()
    found = sum(any(one.search(line) for one in compiled) for line in sample.split(b"\n"))
    seconds = process_time() - started
    _say(f"a loop of re: {found} lines of {len(sample) / 1e6:.1f} MB")
    return round(len(sample) / seconds / 1e6, 2)


def _as_python(pattern: str) -> re.Pattern[bytes]:
    """Python takes a flag at the start only: there it holds for the whole pattern."""
    ignore_case = re.IGNORECASE if "(?i)" in pattern else 0
    return re.compile(pattern.replace("(?i)", "").encode(), ignore_case)


def _print_shapes(log: Path, ripgrep: _Ripgrep | None, folder: Path) -> None:
    """MB/s of the dense log in other shapes, ours beside ripgrep's."""
    for shape in SHAPES:
        shaped = folder / "shaped.log"
        write_shape(log, shaped, shape, SHAPE_SAMPLE)
        rate, _ = _in_its_own_process(shaped, native=True)
        peer = "not measured" if ripgrep is None else f"{ripgrep.rate(shaped):.1f}"
        _say(f"{shape:20s} {rate:8.1f} (ripgrep {peer})")


def _print_table(figures: dict[str, float | None]) -> None:
    ours, rg = figures["ours_mb_s"], figures["ripgrep_mb_s"]
    dense, rg_dense = figures["ours_dense_mb_s"], figures["ripgrep_dense_mb_s"]
    for name, value in figures.items():
        _say(f"{name:20s} {'not measured' if value is None else value}")
    if ours and rg and dense and rg_dense:
        _say(f"ours to ripgrep: {ours / rg:.2f} at 0.1 %, {dense / rg_dense:.2f} at 5 %")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1000, help="size of each log")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the median counts")
    parser.add_argument("--directory", default=None, help="where the logs are written")
    parser.add_argument("--one", default=None, help=argparse.SUPPRESS)
    parser.add_argument("--native", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
