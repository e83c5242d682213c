import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.readers.logs_heads import parse_head

LINES: dict[str, tuple[str, dict[str, object]]] = {
    "[rank13]:[E218 04:54:22.664467604 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught": (
        "Watchdog caught",
        {"rank": 13, "group_rank": 1},
    ),
    "[E ProcessGroupNCCL.cpp:916] [Rank 1] NCCL watchdog": ("NCCL watchdog", {"group_rank": 1}),
    "[rank2]:[E102 02:00:00.1 ProcessGroupNCCL.cpp:1] [PG ID 0 PG GUID 0(default_pg) Rank 2] x": (
        "x",
        {"rank": 2, "group_rank": 2, "default_group": True},
    ),
    "[rank2]:[E304 02:00:00.1 ProcessGroupNCCL.cpp:1] [PG ID 3 PG GUID 7 Rank 0] x": (
        "x",
        {"rank": 2, "group_rank": 0, "default_group": False},
    ),
    "[RANK 1] 2026-05-19 07:10:29,701 [ERROR] GPU": ("GPU", {"rank": 1}),
    "[default3]:[rank11]: Traceback": ("Traceback", {"rank": 11, "local_rank": 3}),
    "[1,3]<stderr>:node-03:9881:10401 [0] init.cc:497 NCCL WARN": (
        "init.cc:497 NCCL WARN",
        {"rank": 3, "host": "node-03", "pid": 9881},
    ),
    "3: RuntimeError: x": ("RuntimeError: x", {"task": 3}),
    "10.0.0.10: node-10:7367:7586 [0] NCCL WARN": (
        "NCCL WARN",
        {"outer_host": "10.0.0.10", "host": "node-10"},
    ),
    "node-12: Traceback": ("Traceback", {"outer_host": "node-12"}),
    "(RayTrainWorker pid=6411, ip=10.0.52.3) x": ("x", {"outer_host": "10.0.52.3", "pid": 6411}),
    "run.node-03.nolog [stderr] [rank3]: x": ("x", {"outer_host": "node-03", "rank": 3}),
    "May 18 07:12:33 node-03 kernel: NVRM: Xid": (
        "NVRM: Xid",
        {"host": "node-03", "program": "kernel"},
    ),
    "<34>1 2003-10-11T22:14:15.003Z node-1 app 12 ID47 - x": (
        "12 ID47 - x",
        {"host": "node-1", "program": "app"},
    ),
    "2024 Jun  4 23:21:24.818583 leaf-14 NOTICE swss#orchagent: :- x": (
        ":- x",
        {"host": "leaf-14", "program": "swss#orchagent"},
    ),
    "<6>1 2026-03-04T01:00:00Z node-003 kernel - - - NVRM: Xid": (
        "- - - NVRM: Xid",
        {"host": "node-003", "program": "kernel"},
    ),
    "[2026-03-04 01:00:00] node-003 kernel: NVRM: Xid": (
        "NVRM: Xid",
        {"host": "node-003", "program": "kernel"},
    ),
    "Mar  4 01:00:00 node-003 kern.err kernel: NVRM: Xid": ("NVRM: Xid", {"host": "node-003"}),
    "[node-003:4711] x": ("x", {"outer_host": "node-003"}),
    "[cache.py:4711] x": ("x", {"outer_host": None}),
    "2024-05-01T12:00:00.123456789Z stderr F [rank0]: x": ("x", {"rank": 0}),
    "[2026-09-05T17:34:36.549Z] task=162 node=node-162 | E0905 17:34:36.549 41 a.cc:414] x": (
        "x",
        {"rank": 162, "outer_host": "node-162"},
    ),
    "02:07:08 ERROR rank=12 | [rank12]: x": ("x", {"rank": 12}),
    "02:07:08.123 INFO x": ("x", {"rank": None, "stamp": None}),
    "2025-03-04 02:07:08.123 | WARNING  | train.loop:<module>:88 - [rank 3] x": ("x", {"rank": 3}),
    "2025-03-04 02:07:08.123 | ERROR | a:b:8 - n-1:30:40 [0] NCCL WARN x": (
        "NCCL WARN x",
        {"host": "n-1"},
    ),
    "gpu-12: [900.200000] NVRM: Xid": ("NVRM: Xid", {"outer_host": "gpu-12"}),
    "gpu-1: 80 C": ("gpu-1: 80 C", {"outer_host": None}),
    "2026-11-02T03:24:05.123Z [1,mpirank:3,algo-2]<stderr>:[rank3]: x": (
        "x",
        {"rank": 3, "outer_host": "algo-2"},
    ),
    "[pod/trainer-3/pytorch] x": ("x", {"outer_host": "trainer-3"}),
    "2026-11-02T03:24:05.123Z [pod/trainer-3/pytorch] [rank3]: x": ("x", {"rank": 3}),
    "[pod/trainer-abc/pytorch] [rank3]: x": ("x", {"rank": 3, "outer_host": None}),
    "(VllmWorker rank=3 pid=1235) x": ("x", {"rank": 3}),
    "[1803] [rank1]:[E602 08:17:52.257891708 ProcessGroupNCCL.cpp:1743] x": ("x", {"rank": 1}),
}


@pytest.mark.parametrize("line", LINES)
def test_prefixes_tell_their_part_and_leave_the_message(line: str) -> None:
    message, told = LINES[line]
    head = parse_head(line)
    assert line[head.end :] == message
    assert {name: getattr(head, name) for name in told} == told


@pytest.mark.parametrize(
    "line",
    [
        "mlx5_core 0000:17:00.0 ens3f0np0: Link down",
        "eth2: Lost carrier",
        "bond0: now running without any active interface!",
        "KeyError: 4",
        "rank 3 failed",
        "Epoch 3: 10%",
    ],
)
def test_a_device_or_a_word_is_no_host(line: str) -> None:
    assert parse_head(line).spoken_host is None


@given(st.text(max_size=200))
def test_no_line_makes_it_raise_and_the_message_is_inside_it(line: str) -> None:
    assert 0 <= parse_head(line).end <= len(line)


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("nvidia-nvswitch2", None),
        ("ens9f0np0", None),
        ("nvme0n1", None),
        ("gpu3", None),
        ("gpu03", "gpu03"),
        ("node-07", "node-07"),
    ],
)
def test_a_part_before_a_message_is_no_host(name: str, host: str | None) -> None:
    assert parse_head(f"{name}: something failed").outer_host == host
