"""What Slurm prints becomes a placement."""

import pytest
from aegis_register.api import RegistrationError
from aegis_register.scontrol import read_scontrol
from aegis_register.slurm import read_srun, registration_of, tasks_per_node
from hypothesis import given
from hypothesis import strategies as st

JOB = """\
JobId=4711 JobName=llama 70b
   UserId=alice(1001) GroupId=ml(1001) MCS_label=N/A
   Priority=4294901758 Nice=0 Account=ml QOS=normal
   JobState=RUNNING Reason=None Dependency=(null)
   Requeue=1 Restarts=2 BatchFlag=1 Reboot=0 ExitCode=0:0
   DerivedExitCode=0:0
   RunTime=00:10:00 TimeLimit=1-00:00:00 TimeMin=N/A
   SubmitTime=2026-03-01T11:59:58 EligibleTime=2026-03-01T11:59:58
   AccrueTime=2026-03-01T11:59:58
   StartTime=2026-03-01T12:00:00 EndTime=2026-03-02T12:00:00 Deadline=N/A
   Partition=gpu AllocNode:Sid=login1:1234
   ReqNodeList=(null) ExcNodeList=gpu666
   NodeList=gpu[001-002]
   BatchHost=gpu001
   NumNodes=2 NumCPUs=128 NumTasks=2 CPUs/Task=64 ReqB:S:C:T=0:0:*:*
   TRES=cpu=128,mem=1000G,node=2,billing=128,gres/gpu=8
   Socks/Node=* NtasksPerN:B:S:C=1:0:*:* CoreSpec=*
   MinCPUsNode=64 MinMemoryNode=500G MinTmpDiskNode=0
   Command=/home/alice/train.sh --with NodeList=evil[1-9] Restarts=9
   WorkDir=/home/alice
   StdErr=/home/alice/slurm-4711.out
   TresPerNode=gres/gpu:h100:4
"""
DETAILED = JOB.replace(
    "   MinCPUsNode",
    "   JOB_GRES=gpu:h100:8\n"
    "     Nodes=gpu001 CPU_IDs=0-63 Mem=512000 GRES=gpu:h100:4(IDX:0-3)\n"
    "     Nodes=gpu002 CPU_IDs=0-63 Mem=512000 GRES=gpu:h100:4(IDX:2-3,6-7)\n"
    "   MinCPUsNode",
)
ON_ONE_LINE = " ".join(line.strip() for line in JOB.splitlines()) + "\n"


def places(text: str, **options: str) -> list[tuple[int, str, int, int]]:
    found = registration_of(read_scontrol(text), **options).placement
    return [(p["rank"], p["host"], p["local_rank"], p["gpu"]) for p in found]


@pytest.mark.parametrize("text", [JOB, DETAILED, ON_ONE_LINE])
def test_a_job_is_known_by_its_id_name_owner_and_attempt(text: str) -> None:
    found = registration_of(read_scontrol(text), cluster="alps")
    assert found.job == {
        "external_id": "4711",
        "source": "slurm",
        "cluster": "alps",
        "name": "llama 70b",
        "owner": "alice",
    }
    assert found.attempt == 3


@pytest.mark.parametrize("text", [JOB, ON_ONE_LINE])
def test_ranks_are_laid_out_in_blocks_one_a_gpu(text: str) -> None:
    assert places(text) == [
        (rank, f"gpu00{1 + rank // 4}", rank % 4, rank % 4) for rank in range(8)
    ]


def test_details_tell_each_host_s_gpus() -> None:
    assert [gpu for _, _, _, gpu in places(DETAILED)] == [0, 1, 2, 3, 2, 3, 6, 7]


def test_gpus_of_the_whole_job_are_shared_out() -> None:
    without = JOB.replace("   TresPerNode=gres/gpu:h100:4\n", "")
    assert len(places(without)) == 8


def test_without_gpus_there_is_one_rank_a_task() -> None:
    on_cpus = JOB.replace("   TresPerNode=gres/gpu:h100:4\n", "").replace(",gres/gpu=8", "")
    assert [host for _, host, _, _ in places(on_cpus)] == ["gpu001", "gpu002"]


def test_the_given_number_of_ranks_wins() -> None:
    assert [host for _, host, _, _ in places(JOB, ranks_per_node="2,1")] == [
        "gpu001",
        "gpu001",
        "gpu002",
    ]


def test_srun_tells_another_order() -> None:
    told = "0: gpu002\n1: gpu001\n2: gpu002\n"
    assert places(DETAILED, srun=told) == [
        (0, "gpu002", 0, 2),
        (1, "gpu001", 0, 0),
        (2, "gpu002", 1, 3),
    ]


def test_start_has_a_zone() -> None:
    started = registration_of(read_scontrol(JOB)).started_at
    assert started is not None
    assert started.startswith("2026-03-01T12:00:00")
    assert started[-6] in "+-"


def test_a_running_job_has_no_outcome() -> None:
    found = registration_of(read_scontrol(JOB))
    assert (found.outcome, found.ended_at) == (None, None)


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        ("COMPLETED", "completed"),
        ("NODE_FAIL", "failed"),
        ("CANCELLED", "cancelled"),
        ("OUT_OF_MEMORY", "failed"),
        ("COMPLETING", None),
        ("REQUEUED", None),
    ],
)
def test_an_ended_job_says_how(state: str, outcome: str | None) -> None:
    ended = registration_of(read_scontrol(JOB.replace("JobState=RUNNING", f"JobState={state}")))
    assert ended.outcome == outcome
    assert (ended.ended_at is not None) == (outcome is not None)


def test_a_job_s_name_cannot_name_its_hosts() -> None:
    sly = JOB.replace("llama 70b", "x UserId=root(0) NodeList=evil[1-9] TRES=gres/gpu=8")
    found = registration_of(read_scontrol(sly))
    assert {place["host"] for place in found.placement} == {"gpu001", "gpu002"}
    assert found.job["owner"] == "alice"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "0 jobs"),
        (JOB + "\n" + JOB, "2 jobs"),
        ("JobId=1", "not what"),
        (JOB.replace("NodeList=gpu[001-002]", "NodeList=(null)"), "no nodes"),
        (JOB.replace("gpu[001-002]", "gpu[001-"), "bracket"),
    ],
)
def test_what_gives_no_placement_is_refused(text: str, reason: str) -> None:
    with pytest.raises((RegistrationError, ValueError), match=reason):
        registration_of(read_scontrol(text))


def test_a_job_that_does_not_tell_its_ranks_is_refused() -> None:
    silent = JOB.replace("   TresPerNode=gres/gpu:h100:4\n", "").replace(",gres/gpu=8", "")
    with pytest.raises(RegistrationError, match="--ranks-per-node"):
        registration_of(read_scontrol(silent.replace("NumTasks=2", "NumTasks=3")))


@pytest.mark.parametrize(
    ("text", "counts"), [("8", [8, 8, 8]), ("8(x2),4", [8, 8, 4]), ("1,2,3", [1, 2, 3])]
)
def test_tasks_per_node_are_counted_out(text: str, counts: list[int]) -> None:
    assert tasks_per_node(text, 3) == counts


@pytest.mark.parametrize("text", ["", "8(x4)", "8,8", "many", "8(x999999999999)"])
def test_tasks_that_do_not_fit_the_nodes_are_refused(text: str) -> None:
    with pytest.raises(RegistrationError):
        tasks_per_node(text, 3)


@pytest.mark.parametrize("text", ["gpu001", "0: a\n0: b", "x: gpu001"])
def test_what_srun_never_prints_is_refused(text: str) -> None:
    with pytest.raises(RegistrationError):
        read_srun(text)


@given(st.text(max_size=200))
def test_any_text_is_a_job_or_refused(text: str) -> None:
    for content in (text, JOB.replace("gpu[001-002]", text), f"JobId=1 JobName=x UserId={text}"):
        try:
            registration_of(read_scontrol(content))
        except (RegistrationError, ValueError):
            continue
