"""Child processes that live and die together; one that ends by itself is started again."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: Seconds that a child gets to end by itself before it is killed.
PATIENCE = 15.0
#: A child that ends by itself more often than this within `RESTART_WINDOW` seconds stays down.
RESTARTS = 5
RESTART_WINDOW = 120.0


@dataclass
class Child:
    """A named process, how it was started, and when it had to be started again."""

    name: str
    command: tuple[str, ...]
    process: subprocess.Popen[bytes]
    log_size_before: int
    restarted_at: list[float] = field(default_factory=list)

    @property
    def restarts_too_often(self) -> bool:
        since = time.monotonic() - RESTART_WINDOW
        return sum(moment > since for moment in self.restarted_at) > RESTARTS


@dataclass
class Children:
    """Started processes, each in a group of its own, each writing to a log file of its own.

    A terminal's Ctrl-C therefore reaches only the parent, which ends the children in the reverse
    order of their start: the broker goes last.
    """

    log_dir: Path
    started: list[Child] = field(default_factory=list)

    def start(self, name: str, command: Sequence[str]) -> Child:
        """Start `command`; its output goes to `<log_dir>/<name>.log`."""
        child = Child(name, tuple(command), *self._spawn(name, command))
        self.started.append(child)
        return child

    def start_again(self, child: Child) -> None:
        """The same command once more, after it ended by itself."""
        child.restarted_at.append(time.monotonic())
        child.process, child.log_size_before = self._spawn(child.name, child.command)

    def ended(self) -> list[Child]:
        """The children that ended by themselves."""
        return [child for child in self.started if child.process.poll() is not None]

    def last_words(self, child: Child, lines: int = 15) -> str:
        """The end of what the child wrote since its last start, for a message."""
        with (self.log_dir / f"{child.name}.log").open("rb") as log:
            log.seek(child.log_size_before)
            content = log.read().decode(errors="replace")
        return "\n".join(content.splitlines()[-lines:])

    def stop(self) -> None:
        """End every child, last started first; kill the group of one that does not end."""
        for child in reversed(self.started):
            if child.process.poll() is None:
                child.process.terminate()
                self._wait(child.process)
        self.started.clear()

    def _spawn(self, name: str, command: Sequence[str]) -> tuple[subprocess.Popen[bytes], int]:
        self.log_dir.mkdir(parents=True, exist_ok=True)
        with (self.log_dir / f"{name}.log").open("ab") as log:
            before = log.tell()
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return process, before

    @staticmethod
    def _wait(process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
