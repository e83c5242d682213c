"""Child processes that live and die together."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: Seconds that a child gets to end by itself before it is killed.
PATIENCE = 15.0


@dataclass
class Children:
    """Started processes, each in a group of its own, each writing to a log file of its own.

    A terminal's Ctrl-C therefore reaches only the parent, which ends the children in the reverse
    order of their start: the broker goes last.
    """

    log_dir: Path
    started: list[tuple[str, subprocess.Popen[bytes]]] = field(default_factory=list)

    def start(
        self, name: str, command: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start `command`; its output goes to `<log_dir>/<name>.log`."""
        self.log_dir.mkdir(parents=True, exist_ok=True)
        with (self.log_dir / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=dict(env or os.environ),
                start_new_session=True,
            )
        self.started.append((name, process))
        return process

    def first_ended(self) -> tuple[str, int] | None:
        """Name and exit code of a child that ended by itself, if one did."""
        for name, process in self.started:
            if (code := process.poll()) is not None:
                return name, code
        return None

    def tail(self, name: str, lines: int = 15) -> str:
        """The end of a child's log, for an error message."""
        content = (self.log_dir / f"{name}.log").read_text(errors="replace")
        return "\n".join(content.splitlines()[-lines:])

    def stop(self) -> None:
        """End every child, last started first; kill the group of one that does not end."""
        for _, process in reversed(self.started):
            if process.poll() is None:
                process.terminate()
                self._wait(process)
        self.started.clear()

    @staticmethod
    def _wait(process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
