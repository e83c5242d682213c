"""Runs one planned command: its arguments as they are, no shell, few variables, a time limit."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.conf import settings

from incidents.services import executions

#: What a scheduler's client needs of the environment; nothing of what Aegis itself keeps there.
_ENVIRONMENT = ("PATH", "HOME", "USER", "LANG", "KUBECONFIG", "SLURM_CONF", "SSL_CERT_FILE")
#: How much of what a command says is kept.
OUTPUT_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended; `exit_code` is None where it did not start or ran too long."""

    exit_code: int | None
    output: str
    reason: str = ""


def execute(execution_id: int) -> bool:
    """Runs an execution that waits; False where it is not this worker's to run."""
    execution = executions.begin(execution_id)
    if execution is None:
        return False
    ran = run(execution.argv, seconds=settings.EXECUTOR_SECONDS)
    executions.end(
        execution=execution, exit_code=ran.exit_code, output=ran.output, reason=ran.reason
    )
    return True


def run(argv: Sequence[str], *, seconds: float) -> Ran:
    """Runs a command and everything that it starts, for at most so long."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            return Ran(None, "", f"It could not be started: {error}")
        reason = ""
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            reason = f"It was stopped after {seconds:g} seconds."
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        said.seek(0)
        output = said.read(OUTPUT_BYTES).decode("utf-8", "replace").replace("\x00", "")
    return Ran(None if reason else process.returncode, output, reason)
