"""Real torch jobs on the CPU that break in each way; their own dumps are collected and judged.

torch is an optional test dependency (requirements-torch.in): the tests run with this interpreter
where it has torch, or with the one that `AEGIS_TORCH_PYTHON` names.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
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
_WHY = "torch is not installed: install requirements-torch.in, or set AEGIS_TORCH_PYTHON"


def torch_python() -> str | None:
    named = os.environ.get("AEGIS_TORCH_PYTHON")
    return named or (sys.executable if importlib.util.find_spec("torch") else None)


pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(240),
    pytest.mark.skipif(torch_python() is None, reason=_WHY),
]


def run_job(fault: str, folder: Path) -> list[int]:
    """Run the job to its end; the exit codes by rank."""
    environment = {
        **os.environ,
        "TORCH_FR_BUFFER_SIZE": "2000",
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
    }
    command = [torch_python() or "", str(_WORKER), fault]
    with ExitStack() as open_files:
        processes = [
            subprocess.Popen(
                [*command, str(rank), str(WORLD), str(folder)],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=open_files.enter_context((folder / f"stderr.{rank}").open("wb")),
            )
            for rank in range(WORLD)
        ]
        return [process.wait(timeout=200) for process in processes]


def diagnosed(folder: Path, without: Sequence[int] = ()) -> Diagnosis:
    dumps = [
        Evidence.from_path(path, path.name)
        for path in sorted(folder.glob("comm_lib_trace_rank_*"))
        if int(path.name.rpartition("_")[2]) not in without
    ]
    assert dumps, (folder / "stderr.0").read_text()[-2000:]
    return diagnose(dumps, placement=PLACEMENT)


def named(answer: Diagnosis) -> list[Suspect]:
    return [suspect for suspect in answer.suspects if suspect.role is not Role.VICTIM]


def test_a_job_without_a_fault_is_healthy(tmp_path: Path):
    assert run_job("none", tmp_path) == [0] * WORLD
    answer = diagnosed(tmp_path)
    assert answer.verdict.cls in {VerdictClass.HEALTHY, VerdictClass.UNKNOWN}
    assert not named(answer)


def test_a_rank_that_hangs_before_a_collective_is_named_on_its_host(tmp_path: Path):
    run_job("hang", tmp_path)
    answer = diagnosed(tmp_path)
    first = named(answer)[0]
    assert (first.target.rank, first.target.host) == (CULPRIT, "node-2")
    assert answer.verdict.cls is VerdictClass.DISTRIBUTED


def test_a_rank_that_is_killed_and_left_no_dump_leads_as_possible(tmp_path: Path):
    codes = run_job("die", tmp_path)
    assert codes[CULPRIT] == -9
    first = named(diagnosed(tmp_path, without=[CULPRIT]))[0]
    assert first.target.rank == CULPRIT


def test_a_rank_that_is_late_at_every_step_is_a_degradation(tmp_path: Path):
    run_job("straggle", tmp_path)
    answer = diagnosed(tmp_path)
    assert named(answer)[0].target.rank == CULPRIT
    assert answer.verdict.cls is VerdictClass.DEGRADATION


def test_a_call_that_does_not_fit_the_others_is_the_users(tmp_path: Path):
    run_job("mismatch", tmp_path)
    answer = diagnosed(tmp_path)
    assert answer.verdict.cls is VerdictClass.USER
    assert named(answer)[0].target.rank == CULPRIT


def test_an_order_deadlock_is_the_users_and_names_the_odd_rank(tmp_path: Path):
    run_job("order", tmp_path)
    answer = diagnosed(tmp_path)
    assert answer.verdict.cls is VerdictClass.USER
    assert named(answer)[0].target.rank == CULPRIT
