"""A notice that calls the job off is the cause of what fails after it, and of nothing before."""

import pytest

from diagnosis.core.words import Action, VerdictClass
from tests.diagnosis.triage.judged import isolated, judged, timeout_line

DAY = "2025-03-04T02:"
TASK = "/job:jax_worker/replica:0/task:3"
LOST = (
    "E0304 02:{}.402 157988 coordination_service_agent.cc:332] Polled an error from coordination "
    "service (this can be an error from this or another task).\n"
    f"UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):\n{TASK}\n"
    "F0304 02:{}.500 157988 client.h:77] Terminating process because the JAX distributed service "
    "detected fatal errors. This most likely indicates that another task died.\n"
)
NOTICES = [
    "W0304 02:{}.000 5041 preemption_notifier.cc:89] SIGTERM caught at 2025-03-04\n",
    "I0304 02:{}.200 5077 sync_manager.cc:268] Will begin preemption sync protocol in 1s\n",
    f"I0304 02:{{}}.100 5077 service.cc:90] Preemption notice received by task {TASK}\n",
    "slurmstepd: error: *** JOB 9 ON node-01 CANCELLED AT 2025-03-04T02:{} DUE TO PREEMPTION ***\n",
]
XID_79 = "Mar  4 02:{} node-03 kernel: NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off.\n"
TEARDOWN = "Mar  4 02:{} node-03 kernel: NVRM: Xid (PCI:0000:9b:00): 45, pid=7, Ch 00000008\n"


def at(line: str, minute: str) -> str:
    return line.replace("{}", minute)


def jax(*lines: str) -> str:
    return "I0304 02:01:00.000000 12 train.py:9] step 100\n" + "".join(lines)


@pytest.mark.parametrize("notice", NOTICES)
def test_errors_after_a_notice_follow_from_it(notice: str):
    answer = judged({"worker.log": jax(at(notice, "05:00"), at(LOST, "06:10"))})
    assert answer.verdict.cls is VerdictClass.CONFIG
    assert answer.verdict.summary.startswith("The job was preempted")
    assert answer.suspects[0].fault == "slurm-preempted"
    assert [one.action for one in answer.recommendations] == [Action.RESTART_JOB]


def test_time_outs_and_tear_down_after_a_notice_follow_from_it_too():
    files = {
        "slurm.out": jax(at(NOTICES[0], "05:00"), *(timeout_line(n, "02:16:00") for n in range(8))),
        "node-03.kern.log": at(TEARDOWN, "05:40"),
    }
    answer = judged(files)
    assert (answer.suspects[0].fault, isolated(answer)) == ("slurm-preempted", [])


def test_hardware_that_failed_before_the_notice_wins():
    files = {
        "worker.log": jax(at(NOTICES[0], "05:00"), at(LOST, "06:10")),
        "node-03.kern.log": at(XID_79, "04:30"),
    }
    assert isolated(judged(files)) == ["node-03"]


def test_hardware_that_failed_after_the_notice_is_told_and_not_isolated():
    files = {
        "worker.log": jax(at(NOTICES[0], "05:00"), at(LOST, "06:10")),
        "node-03.kern.log": at(XID_79, "05:30"),
    }
    answer = judged(files)
    assert isolated(answer) == []
    assert [one.target.host for one in answer.suspects[1:]] == ["node-03"]


def test_hardware_of_unknown_time_wins():
    files = {
        "worker.log": jax(at(NOTICES[0], "05:00"), at(LOST, "06:10")),
        "node-03.dmesg.log": "[ 90.5] NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off.\n",
    }
    assert isolated(judged(files)) == ["node-03"]


def test_errors_before_the_notice_are_not_its_doing():
    error = "02:03:00 RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
    log = jax(f"2025-03-04 {error}", at(NOTICES[0], "05:00"))
    assert judged({"worker.log": log}).verdict.cls is VerdictClass.USER


def test_a_notice_that_the_job_outlived_is_none_of_its_end():
    late = "2025-03-04 09:03:00 RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
    log = jax(at(NOTICES[0], "05:00"), late)
    assert judged({"worker.log": log}).verdict.cls is VerdictClass.USER


def test_errors_after_the_time_limit_follow_from_it_and_a_hang_before_it_does_not():
    limit = at(NOTICES[-1].replace("PREEMPTION", "TIME LIMIT"), "14:00")
    after = judged({"slurm.out": jax(limit, at(LOST, "14:10"))})
    assert after.verdict.summary.startswith("The job reached its time limit")
    before = judged({"slurm.out": jax(*(timeout_line(n) for n in range(8)), limit)})
    assert before.verdict.cls is VerdictClass.DISTRIBUTED


CLOSED = (
    "node-0{}:88:91 [1] misc/socket.cc:58 NCCL WARN socketProgress: "
    "Connection closed by remote peer node-07<4561{}>\n"
)
STOPPED = "slurmstepd: error: *** JOB 9 ON node-01 CANCELLED AT 2025-03-04T02:05:00{} ***\n"


@pytest.mark.parametrize("why", [" DUE TO PREEMPTION", " DUE TO TIME LIMIT", ""])
def test_a_host_whose_processes_were_stopped_first_is_not_isolated(why: str):
    lost = "".join(CLOSED.format(host, host) for host in range(1, 6))
    untimed = judged({"slurm.out": lost + STOPPED.format(why)})
    assert isolated(untimed) == []
    dated = "".join(f"2025-03-04 02:03:0{n},000 {CLOSED.format(n, n)}" for n in range(1, 6))
    assert isolated(judged({"slurm.out": dated, "slurm.err": STOPPED.format(why)})) == []


def test_a_host_that_went_long_before_the_job_was_cancelled_is_isolated():
    dated = "".join(f"2025-03-04 01:03:0{n},000 {CLOSED.format(n, n)}" for n in range(1, 6))
    answer = judged({"slurm.out": dated, "slurm.err": STOPPED.format("")})
    assert isolated(answer) == ["node-07"]
