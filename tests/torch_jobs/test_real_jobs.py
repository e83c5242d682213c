"""Real torch jobs on the CPU that break in each way; their own dumps are collected and judged.

torch is an optional test dependency (requirements-torch.in): the jobs run with this interpreter
where it has torch, or with the one that `AEGIS_TORCH_PYTHON` names, as `make test-torch` does.
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from diagnosis.core.diagnosis import Diagnosis, Suspect
from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement, RankPlace
from diagnosis.core.words import Role, VerdictClass
from diagnosis.engine import diagnose

WORLD, CULPRIT = 4, 2
PLACEMENT = Placement.of(RankPlace(rank, f"node-{rank}", 0, 0) for rank in range(WORLD))
_WORKER = Path(__file__).with_name("worker.py")
_WHY = "torch is not installed: run `make test-torch`, or set AEGIS_TORCH_PYTHON"
FAULTS = ("none", "hang", "die", "straggle", "mismatch", "order")


def torch_python() -> str | None:
    named = os.environ.get("AEGIS_TORCH_PYTHON")
    return named or (sys.executable if importlib.util.find_spec("torch") else None)


pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(600),
    pytest.mark.skipif(torch_python() is None, reason=_WHY),
]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all jobs, each in a folder of its fault's name, when all have ended."""
    root = tmp_path_factory.mktemp("jobs")
    environment = {
        **os.environ,
        "TORCH_FR_BUFFER_SIZE": "2000",
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
    }
    command = [torch_python() or "", str(_WORKER), str(WORLD), str(root), *FAULTS]
    with subprocess.Popen(command, env=environment, start_new_session=True) as running:
        try:
            running.wait(timeout=500)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    return root


def exit_codes(folder: Path) -> list[int]:
    codes: list[int] = json.loads((folder / "exit_codes").read_text())
    return codes


def diagnosed(folder: Path, without: Sequence[int] = ()) -> Diagnosis:
    dumps = [
        Evidence.from_path(path, path.name)
        for path in sorted(folder.glob("comm_lib_trace_rank_*"))
        if int(path.name.rpartition("_")[2]) not in without
    ]
    assert dumps, (folder / "stderr").read_text()[-2000:]
    return diagnose(dumps, placement=PLACEMENT)


def named(answer: Diagnosis) -> list[Suspect]:
    return [suspect for suspect in answer.suspects if suspect.role is not Role.VICTIM]


def test_a_job_without_a_fault_is_healthy(jobs: Path):
    assert exit_codes(jobs / "none") == [0] * WORLD
    answer = diagnosed(jobs / "none")
    assert answer.verdict.cls in {VerdictClass.HEALTHY, VerdictClass.UNKNOWN}
    assert not named(answer)


def test_a_rank_that_hangs_before_a_collective_is_named_on_its_host(jobs: Path):
    answer = diagnosed(jobs / "hang")
    first = named(answer)[0]
    assert (first.target.rank, first.target.host) == (CULPRIT, "node-2")
    assert answer.verdict.cls is VerdictClass.DISTRIBUTED


def test_a_rank_that_is_killed_and_left_no_dump_leads_as_possible(jobs: Path):
    assert exit_codes(jobs / "die")[CULPRIT] == -9
    first = named(diagnosed(jobs / "die", without=[CULPRIT]))[0]
    assert first.target.rank == CULPRIT


def test_a_rank_that_is_late_at_every_step_is_a_degradation(jobs: Path):
    answer = diagnosed(jobs / "straggle")
    assert named(answer)[0].target.rank == CULPRIT
    assert answer.verdict.cls is VerdictClass.DEGRADATION


def test_a_call_that_does_not_fit_the_others_is_the_users(jobs: Path):
    answer = diagnosed(jobs / "mismatch")
    assert answer.verdict.cls is VerdictClass.USER
    assert named(answer)[0].target.rank == CULPRIT


def test_an_order_deadlock_is_the_users_and_names_the_odd_rank(jobs: Path):
    answer = diagnosed(jobs / "order")
    assert answer.verdict.cls is VerdictClass.USER
    assert named(answer)[0].target.rank == CULPRIT
