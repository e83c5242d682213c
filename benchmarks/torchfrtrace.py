"""PyTorch's own analyzer of Flight Recorder dumps, run as its command line, as a peer.

It is used where it is installed: on the PATH, or where `AEGIS_TORCHFRTRACE` points.
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
    "torchfrtrace is not installed: install requirements-torch.in, or point "
    "AEGIS_TORCHFRTRACE at it"
)
_MISSING = re.compile(r"missing ranks: \{([\d, ]*)\}")
_CULPRIT = re.compile(r"Culprit rank (\d+)")
_TIMEOUT_S = 900


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
    return os.environ.get("AEGIS_TORCHFRTRACE") or shutil.which("torchfrtrace")


def ask(command: str, folder: Path, prefix: str = PREFIX) -> PeerAnswer:
    """What it says of the dumps `<prefix><rank>` in a folder."""
    started = perf_counter()
    ended = subprocess.run(
        [command, str(folder), "-p", prefix],
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
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
