"""Errors that came long before the end, and faults that an answer does not rest on."""

import pytest

from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.words import Role, VerdictClass
from tests.diagnosis.triage.judged import judged, timeout_line

REFUSED = (
    "node-003:88:91 [1] misc/socket.cc:484 NCCL WARN socketStartConnect: "
    "Connect to 10.0.0.7<45611> failed : Connection refused\n"
)
CUDA = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB.\n"
KILLED = "{} node-017 kernel: Out of memory: Killed process 4711 (python3) total-vm:912345678kB\n"
CAUGHT = "[rank3]: FileNotFoundError: [Errno 2] No such file or directory: '/data/shard-7'\n"
DOUBLE_BIT = "[Wed Mar  4 01:00:10 2026] NVRM: Xid (PCI:0000:3b:00): 48, pid=1, name=python, DBE\n"


def step(clock: str) -> str:
    return f"2026-03-04 {clock},000 INFO trainer [rank 0] iteration 7 lm loss: 2.0\n"


def of_one_log(*lines: str) -> Conclusion:
    return judged({"train.log": "".join(lines)})


@pytest.mark.parametrize("late", [CUDA, KILLED.format("Mar  4 06:00:01")], ids=["cuda", "host"])
@pytest.mark.parametrize("early", [REFUSED, timeout_line(5, "01:00:00")], ids=["warn", "watchdog"])
def test_memory_that_ran_out_hours_after_an_error_ended_the_job(early: str, late: str) -> None:
    said = of_one_log(step("01:00:00"), early, step("01:00:01"), step("06:00:00"), late)
    assert said.verdict.cls is VerdictClass.USER
    assert "ut of memory" in said.verdict.summary
    assert said.suspects[0].role is Role.CULPRIT
    assert any("the job outlived them" in line for line in said.trace)


@pytest.mark.parametrize("late", [CUDA, KILLED.format("Mar  4 01:10:01")], ids=["cuda", "host"])
def test_memory_that_ran_out_soon_after_an_error_is_told_beside_it(late: str) -> None:
    said = of_one_log(step("01:00:00"), REFUSED, step("01:10:00"), late)
    assert said.verdict.cls is VerdictClass.DISTRIBUTED
    assert "Also there: " in said.verdict.summary
    assert "ut of memory" in said.verdict.summary
    assert said.suspects[-1].role is Role.POSSIBLE
    assert said.suspects[-1].fault in {"cuda-oom", "host-oom-killer"}


def test_an_error_that_comes_again_and_again_leaves_a_doubt() -> None:
    noise = [step(f"0{hour}:59:00") + REFUSED for hour in range(1, 6)]
    said = of_one_log(step("01:00:00"), *noise, step("06:00:00"), CUDA)
    assert said.verdict.cls is VerdictClass.USER
    assert said.suspects[0].role is Role.POSSIBLE


def test_a_kernel_that_kills_after_the_job_has_ended_tells_nothing_of_it() -> None:
    said = judged(
        {
            "train.log": step("01:00:00") + timeout_line(5, "01:00:00"),
            "node-017.syslog.log": KILLED.format("Mar  4 06:00:01"),
        }
    )
    assert said.verdict.cls is VerdictClass.DISTRIBUTED


def test_an_exception_that_was_caught_hours_before_is_not_the_cause() -> None:
    said = of_one_log(step("01:00:00"), CAUGHT, step("06:00:00"), CUDA)
    assert said.suspects[0].fault == "cuda-oom"


def test_memory_that_ran_out_beside_a_broken_part_is_in_the_trace() -> None:
    said = judged({"node-009.dmesg.log": DOUBLE_BIT, "rank-3.log": step("01:20:00") + CUDA})
    assert said.verdict.cls is VerdictClass.CRITICAL
    assert any("beside that: 1 line of cuda-oom (CUDA out of memory on" in t for t in said.trace)


DOWN = "[Wed Mar  4 01:00:10 2026] mlx5_core 0000:18:00.0 ens1f0np0: Link down\n"
UP = "[Wed Mar  4 01:00:17 2026] mlx5_core 0000:18:00.0 ens1f0np0: Link up\n"
OFF_THE_BUS = "[Sun Mar  1 01:00:10 2026] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off.\n"
LATER = "[Wed Mar  4 01:00:10 2026] perf: interrupt took too long (2514 > 2500)\n"
WRONG = "[rank3]: IndexError: list index out of range\n"


def test_a_link_that_came_back_long_before_the_failure_is_left_out() -> None:
    lost = "2026-03-04 02:00:00,000 node-003:88:91 [1] NCCL WARN Connection closed by remote peer\n"
    said = judged({"train.log": lost, "node-017.dmesg.log": DOWN + UP})
    assert said.verdict.cls is VerdictClass.DISTRIBUTED
    assert "mlx5-link-down" not in {one.fault for one in said.suspects}


def test_a_link_that_came_back_as_the_job_failed_is_named() -> None:
    lost = "2026-03-04 01:00:20,000 node-003:88:91 [1] NCCL WARN Connection closed by remote peer\n"
    said = judged({"train.log": lost, "node-017.dmesg.log": DOWN + UP})
    assert said.suspects[0].target.host == "node-017"


def test_faults_of_days_before_are_not_of_the_code_that_fails_at_no_known_time() -> None:
    files = {"train.log": WRONG, "node-017.dmesg.log": OFF_THE_BUS + LATER}
    assert judged(files).verdict.cls is VerdictClass.USER
    files["node-017.dmesg.log"] = OFF_THE_BUS
    assert judged(files).verdict.cls is VerdictClass.CRITICAL


def test_code_that_fails_by_clocks_that_disagree_explains_why_its_peers_were_left() -> None:
    lost = "".join(
        f"2026-03-04 02:0{n}:00,000 node-00{n}:88:9{n} [1] misc/socket.cc:58 NCCL WARN "
        f"socketProgress: Connection closed by remote peer node-009<4561{n}>\n"
        for n in range(1, 6)
    )
    files = {"train.log": lost, "rank-3.log": "2026-03-04 02:08:00,000 " + WRONG}
    said = judged(files)
    assert said.verdict.cls is VerdictClass.USER
