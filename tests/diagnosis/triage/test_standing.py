"""States that `nvidia-smi -q` tells of GPUs: suspects with their device, below what happened."""

import pytest

from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.words import Action, VerdictClass
from tests.diagnosis.triage.judged import isolated, judged, timeout_line

XID_79 = "[ 90.5] NVRM: Xid (PCI:0000:1b:00): 79, pid=12, GPU has fallen off the bus.\n"
CRASH = 'Traceback (most recent call last):\n  File "train.py", line 3\nKeyError: "x"\n'
TIMEOUTS = "".join(timeout_line(rank) for rank in range(16))


def gpu(bus: int, **told: str) -> str:
    """One GPU's part of the sheet, healthy but for what is told; its life has seen errors."""
    known = {"pending": "No", "failed": "No", "volatile": "0", "exceeded": "No", "pages": "N/A"}
    known |= told
    return f"""
GPU 00000000:{bus:02X}:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Serial Number                         : 165{bus:04d}
    GPU UUID                              : GPU-{bus:08x}-aaaa
    MIG Mode
        Current                           : Disabled
        Pending                           : Disabled
    ECC Errors
        Volatile
            SRAM Uncorrectable Parity     : 0
            DRAM Correctable              : 40
            DRAM Uncorrectable            : {known["volatile"]}
        Aggregate
            SRAM Uncorrectable SEC-DED    : 2
            DRAM Uncorrectable            : 12
            SRAM Threshold Exceeded       : {known["exceeded"]}
    Retired Pages
        Double Bit ECC                    : 3
        Pending Page Blacklist            : {known["pages"]}
    Remapped Rows
        Uncorrectable Error               : 2
        Pending                           : {known["pending"]}
        Remapping Failure Occurred        : {known["failed"]}
        Bank Remap Availability Histogram
            Max                           : 2560 bank(s)
"""


def sheet(*gpus: str) -> str:
    head = "==============NVSMI LOG==============\n\nDriver Version  : 550.54.15\n"
    return f"\n{head}Attached GPUs  : {len(gpus)}\n{''.join(gpus)}"


HEALTHY = [gpu(bus) for bus in (0x1B, 0x43, 0x52)]


def told(answer: Conclusion) -> list[tuple[str | None, object, str | None]]:
    return [(one.target.host, one.target.gpu, one.fault) for one in answer.suspects]


def actions(answer: Conclusion) -> list[tuple[Action, str | None]]:
    return [(one.action, one.target.host) for one in answer.recommendations]


def test_a_healthy_sheet_says_nothing():
    answer = judged({"node-01.nvidia-smi.txt": sheet(*HEALTHY)})
    assert (answer.verdict.cls, answer.suspects) == (VerdictClass.UNKNOWN, ())


@pytest.mark.parametrize(
    ("state", "code", "action"),
    [
        ({"pending": "Yes"}, "row-remap-pending", Action.RESET_GPU),
        ({"pages": "Yes"}, "page-retirement-pending", Action.RESET_GPU),
        ({"volatile": "2"}, "gpu-ecc-uncorrectable-count", Action.RESET_GPU),
        ({"exceeded": "Yes"}, "gpu-sram-threshold-exceeded", Action.ISOLATE_HOST),
        ({"failed": "Yes"}, "row-remap-failure-flag", Action.ISOLATE_HOST),
    ],
)
def test_a_state_names_its_gpu_and_what_to_do(state: dict[str, str], code: str, action: Action):
    answer = judged({"node-01.nvidia-smi.txt": sheet(*HEALTHY, gpu(0x9B, **state))})
    assert told(answer) == [("node-01", "00000000:9B:00.0", code)]
    assert actions(answer)[0] == (action, "node-01")
    finding = answer.suspects[0].findings[0]
    assert finding.text.startswith("GPU 00000000:9B:00.0, serial 1650155, GPU-0000009b-aaaa: ")


def test_each_gpu_is_a_suspect_of_its_own():
    gpus = [gpu(bus, failed="Yes") for bus in (0x9A, 0x9B)]
    answer = judged({"node-01.nvidia-smi.txt": sheet(*HEALTHY, *gpus)})
    assert {one.target.gpu for one in answer.suspects} == {"00000000:9A:00.0", "00000000:9B:00.0"}
    assert isolated(answer) == ["node-01"]


def test_a_fatal_xid_on_another_host_comes_first():
    files = {
        "node-01.nvidia-smi.txt": sheet(*HEALTHY, gpu(0x9B, failed="Yes")),
        "node-02.dmesg.log": XID_79,
    }
    answer = judged(files)
    assert [one.target.host for one in answer.suspects] == ["node-02", "node-01"]
    assert answer.suspects[1].score < 0.5 < answer.suspects[0].score


@pytest.mark.parametrize(("log", "cls"), [(CRASH, "user"), (TIMEOUTS, "distributed")])
def test_a_reset_that_is_due_stands_beside_the_answer(log: str, cls: str):
    files = {"node-01.nvidia-smi.txt": sheet(gpu(0x9B, pending="Yes")), "train.log": log}
    answer = judged(files)
    assert answer.verdict.cls.value == cls
    assert told(answer)[-1] == ("node-01", "00000000:9B:00.0", "row-remap-pending")
    assert (Action.RESET_GPU, "node-01") in actions(answer)
    assert isolated(answer) == []


def test_a_board_for_return_answers_time_outs_that_name_nobody():
    files = {"node-01.nvidia-smi.txt": sheet(gpu(0x9B, failed="Yes")), "train.log": TIMEOUTS}
    answer = judged(files)
    assert (answer.verdict.cls, isolated(answer)) == (VerdictClass.CRITICAL, ["node-01"])


def test_sheets_of_many_hosts_in_one_file_are_each_hosts():
    rule = "-" * 16
    text = "".join(
        f"{rule}\nnode-0{n}\n{rule}\n{sheet(*HEALTHY, gpu(0x9B, failed='Yes' if n == 2 else 'No'))}"
        for n in (1, 2, 3)
    )
    assert isolated(judged({"all.txt": text})) == ["node-02"]


def test_a_sheet_in_a_larger_report_is_found():
    text = "Nov 30 10:00:00 node-04 kernel: started\n" * 50 + sheet(gpu(0x9B, failed="Yes"))
    answer = judged({"node-04.nvidia-bug-report.log": text})
    assert told(answer) == [("node-04", "00000000:9B:00.0", "row-remap-failure-flag")]


@pytest.mark.parametrize(
    "line", ["Jobs Pending : Yes", "  DRAM Uncorrectable : 3", "Pending: Yes", "   Pending  : Yes"]
)
def test_words_outside_of_a_sheet_say_nothing(line: str):
    assert judged({"node-01.log": f"step 1\n{line}\nstep 2\n"}).suspects == ()


def test_a_line_that_follows_a_sheet_and_a_flush_line_is_none_of_its_gpus():
    log = f"{sheet(*HEALTHY)}step 1\n        Remapping Failure Occurred : Yes\n"
    suspects = judged({"node-01.log": log}).suspects
    assert {suspect.target.gpu for suspect in suspects} == {None}


def test_a_gpu_that_qualifies_for_return_says_more_than_a_log_that_ends_early() -> None:
    step = "2025-03-04T02:0{}:00Z step 100\n"
    files = {
        f"node-0{n}.train.log": step.format(9) + timeout_line(n, "02:10:00") for n in range(1, 4)
    }
    files["node-09.train.log"] = step.format(0)
    assert judged(files).suspects[0].fault == "silence"
    files["node-02.smi.log"] = sheet(*HEALTHY, gpu(0x9B, failed="Yes"))
    answer = judged(files)
    assert answer.verdict.cls is VerdictClass.CRITICAL
    assert (answer.suspects[0].target.host, answer.suspects[0].fault) == (
        "node-02",
        "row-remap-failure-flag",
    )
