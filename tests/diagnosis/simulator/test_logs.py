"""The forms in which logs are kept, and the wording of each release."""

import re
from functools import cache
from typing import Any

import pytest

from diagnosis.simulator.scenarios import simulate
from diagnosis.simulator.simulation import Simulation
from tests.diagnosis.simulator.dumps import logs_of

GLOG = re.compile(r"^\[rank\d+\]:\[E\d{3,4} \d\d:\d\d:\d\d\.\d{9} ProcessGroupNCCL\.cpp:\d+\] ")


@cache
def oom(**options: Any) -> Simulation:
    return simulate("cuda_oom", seed=8, hosts=2, gpus_per_host=4, **options)


def everything(simulation: Simulation) -> str:
    return "\n".join(logs_of(simulation).values())


def test_per_rank_each_rank_and_each_launcher_has_a_file():
    names = {name for name in oom().files if name.endswith(".log") and "dmesg" not in name}
    agents = {"node-001.torchrun.log", "node-002.torchrun.log"}
    assert names == {f"rank-{rank}.log" for rank in range(8)} | agents


def test_per_host_lines_carry_the_local_rank():
    text = oom(log_form="per-host").files["node-001.train.log"].decode()
    prefixed = [line for line in text.splitlines() if line.startswith("[default")]
    assert {line.split(":")[0] for line in prefixed} == {f"[default{n}]" for n in range(4)}


def test_the_job_log_holds_all_ranks_and_no_line_is_lost():
    apart, together = oom(nccl_debug=False), oom(nccl_debug=False, log_form="job")
    (name,) = (name for name in together.files if name.startswith("slurm-"))
    labelled = [
        line.split(": ", 1)[1]
        for line in together.files[name].decode().splitlines()
        if re.match(r"\d: ", line)
    ]
    per_rank = [
        line for rank in range(8) for line in apart.files[f"rank-{rank}.log"].decode().splitlines()
    ]
    assert sorted(labelled) == sorted(per_rank)


def test_colours_can_be_taken_away_again():
    plain, coloured = everything(oom()), everything(oom(ansi=True))
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


def test_lines_can_end_as_on_windows():
    content = oom(crlf=True).files["rank-0.log"]
    assert content.count(b"\n") == content.count(b"\r\n") > 0


def test_watchdog_lines_have_the_stamp_of_glog():
    lines = everything(oom()).splitlines()
    spoken = [line for line in lines if "Watchdog caught" in line]
    assert spoken
    assert all(GLOG.match(line) for line in spoken)


@pytest.mark.parametrize(
    ("version", "wording"),
    [
        ("2.2", r"\[PG \d+ \(\w+\) Rank \d+\] Exception \(either an error or timeout\) detected"),
        ("2.4", r"\[PG ID \d+ PG GUID \d+\(\w+\) Rank \d+\] Exception \(either an error"),
        ("2.10", r"\[PG ID \d+ PG GUID \d+\(\w+\) Rank \d+\]  failure detected by watchdog at"),
    ],
)
def test_the_status_line_has_the_wording_of_its_release(version, wording):
    assert re.search(wording, everything(oom(fr_version=version)))


def test_the_rank_in_a_work_description_is_the_groups():
    text = everything(simulate("hang_compute", seed=3, hosts=4, culprit=30))
    spoken = re.findall(r"\[rank(\d+)\]:\[E.*?\] \[Rank (\d+)\] Watchdog", text)
    assert any(int(own) != int(whole) for whole, own in spoken)


@pytest.mark.parametrize(
    ("form", "stamp"),
    [
        ("ctime", r"\[\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\] "),
        ("monotonic", r"\[ *\d+\.\d{6}\] "),
        ("journal", r"\w{3} \d\d \d\d:\d\d:\d\d node-00\d kernel: "),
    ],
)
def test_kernel_lines_have_the_stamp_of_their_form(form, stamp):
    simulation = simulate("nvlink_error", seed=3, hosts=2, kernel_form=form)
    text = simulation.files[f"{simulation.truth.culprit_hosts[0]}.dmesg.log"].decode()
    assert all(re.match(stamp, line) for line in text.splitlines())


def test_a_kernel_record_of_several_lines_is_continued_without_a_stamp():
    simulation = simulate("gpu_fallen_off_bus", seed=3, hosts=2)
    text = simulation.files[f"{simulation.truth.culprit_hosts[0]}.dmesg.log"].decode()
    assert re.search(r"\n +NVRM: nvidia-bug-report\.sh as root", text)


def test_skewed_clocks_move_a_hosts_stamps_and_not_the_truth():
    straight, skewed = (
        simulate("hang_compute", seed=3, hosts=2, clock_skew_s=skew) for skew in (0.0, 40.0)
    )
    assert straight.truth.onset == skewed.truth.onset
    assert straight.files["node-001.dmesg.log"] != skewed.files["node-001.dmesg.log"]


def test_a_gloo_job_has_no_lines_of_nccl():
    assert "NCCL" not in everything(oom(backend="gloo"))
