"""PyTorch's own analyzer of Flight Recorder dumps, run as its command line, as a peer.

It is used where it is installed: where `AEGIS_TORCHFRTRACE` points, in `.venv-torch` (made by the
Makefile's targets that ask it), or on the PATH.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

PREFIX = "comm_lib_trace_rank_"
WHY_MISSING = (
    "torchfrtrace is not installed: run `make .venv-torch/ready`, or point AEGIS_TORCHFRTRACE at it"
)
_MISSING = re.compile(r"missing ranks: \{([\d, ]*)\}")
_CULPRIT = re.compile(r"Culprit rank (\d+)")
#: It answers a recorded case in about five seconds, most of them torch's import, and 64 full dumps
#: in about two minutes; what takes longer is stopped and counts as no answer (seconds).
CASE_LIMIT_S, FULL_LIMIT_S = 60, 240
_OWN = Path(__file__).parents[1] / ".venv-torch" / "bin" / "torchfrtrace"


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """Ranks that torchfrtrace names, in the order of its output, and what ended it early."""

    ranks: tuple[int, ...]
    failure: str
    seconds: float

    @property
    def words(self) -> str:
        if self.failure:
            return f"no answer ({self.failure})"
        named = ", ".join(map(str, self.ranks[:8]))
        return f"names {named}{' …' if len(self.ranks) > 8 else ''}" if self.ranks else "silent"


def program() -> str | None:
    """Where torchfrtrace is, if anywhere."""
    named = os.environ.get("AEGIS_TORCHFRTRACE")
    return named or (str(_OWN) if _OWN.exists() else shutil.which("torchfrtrace"))


def ask(
    command: str, folder: Path, prefix: str = PREFIX, *, limit_s: float = CASE_LIMIT_S
) -> PeerAnswer:
    """What it says of the dumps `<prefix><rank>` in a folder, if it does so within `limit_s`."""
    started = perf_counter()
    try:
        ended = subprocess.run(
            [command, str(folder), "-p", prefix],
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return PeerAnswer((), f"stopped after {limit_s:.0f} s", perf_counter() - started)
    seconds = perf_counter() - started
    said = ended.stdout + ended.stderr
    failure = said.strip().splitlines()[-1][:80] if ended.returncode else ""
    return PeerAnswer(_named(said), failure, seconds)


def _named(said: str) -> tuple[int, ...]:
    named: dict[int, None] = {}
    for line in said.splitlines():
        if found := _MISSING.search(line):
            named |= dict.fromkeys(int(rank) for rank in found[1].split(",") if rank.strip())
        if found := _CULPRIT.search(line):
            named[int(found[1])] = None
    return tuple(named)
