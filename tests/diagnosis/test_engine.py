"""The engine as a whole, on simulated jobs and on files that it cannot read."""

import gzip
import io
import json
import random

import pytest
import zstandard

from diagnosis.core.diagnosis import Diagnosis
from diagnosis.core.evidence import Evidence
from diagnosis.core.words import Action, Role, VerdictClass
from diagnosis.engine import diagnose
from diagnosis.simulator.scenarios import simulate

XID = b"[ 1842.871120] NVRM: Xid (PCI:0000:b3:00): 79, pid=4711, GPU has fallen off the bus.\n"


def evidence(name: str, content: bytes) -> Evidence:
    return Evidence(name=name, open=lambda: io.BytesIO(content), size=len(content))


def isolated(answer: Diagnosis) -> set[str | None]:
    return {r.target.host for r in answer.recommendations if r.action is Action.ISOLATE_HOST}


@pytest.mark.parametrize(
    "name", ["hang_compute", "gpu_fallen_off_bus", "cuda_oom", "call_mismatch", "ib_link_down"]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_simulated_fault_is_named_and_no_victim_is_isolated(name: str, seed: int):
    simulation = simulate(name, seed=seed, hosts=2)

    answer = diagnose(simulation.evidence())

    truth = simulation.truth
    assert answer.verdict.cls in truth.class_accept
    assert answer.suspects[0].target.rank in truth.culprits
    forbidden = (
        {"node-001", "node-002"} if "*" in truth.must_not_isolate else set(truth.must_not_isolate)
    )
    assert not isolated(answer) & forbidden


def test_the_answer_does_not_depend_on_the_order_of_the_evidence():
    files = simulate("gpu_fallen_off_bus", seed=2, hosts=2).evidence()
    first = diagnose(files).to_dict()

    random.Random(5).shuffle(files)  # noqa: S311 - an order, not a secret

    assert diagnose(files).to_dict() == first


def test_a_compressed_log_that_was_cut_off_is_read_and_marked():
    noise = b"".join(b"[%d.5] usb 1-1: new device %d\n" % (n, n * n) for n in range(5000))
    whole = gzip.compress(XID + b"\n" + noise)
    answer = diagnose([evidence("node-07.dmesg.log.gz", whole[: len(whole) // 2])])

    assert answer.verdict.cls is VerdictClass.CRITICAL
    (marked,) = answer.skipped
    assert (marked.file, marked.reason[:7]) == ("node-07.dmesg.log.gz", "cut off")


def test_nothing_to_judge_is_unknown_and_says_what_to_hand_in():
    answer = diagnose([])

    assert (answer.judged, answer.verdict.cls) == (False, VerdictClass.UNKNOWN)
    assert "logs" in answer.recommendations[0].reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "0 bytes"),
        (bytes(range(256)) * 40, "binary data"),
        (b"\x80\x02cos\nsystem\n(S'true'\ntR.", "os.system"),
        (b'[{"rank": 0}, {"host": "a", "rank": 1}]', "row 0"),
        (b"\x1f\x8b\x08\x00", "cannot be opened"),
        (b"PK\x03\x04" + bytes(range(256)) * 8, "nothing in this archive can be read"),
        (
            b"name".ljust(257, b"\0") + b"ustar" + bytes(250) + b"text",
            "nothing in this archive can be read",
        ),
        (("a log line\n" * 50).encode("utf-16-le"), "UTF-16"),
    ],
    ids=["empty", "binary", "calls", "broken-placement", "cut-gzip", "zip", "tar", "utf-16"],
)
def test_a_file_that_cannot_be_read_is_skipped_with_the_reason(content: bytes, reason: str):
    answer = diagnose([evidence("rank_0", content), evidence("node-07.dmesg.log", XID)])

    assert reason in {item.file: item.reason for item in answer.skipped}["rank_0"]
    assert answer.verdict.cls is VerdictClass.CRITICAL


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_compressed_evidence_is_read_as_what_it_holds(pack):
    answer = diagnose([evidence("node-07.dmesg.log.gz", pack(XID))])

    assert answer.suspects[0].role is Role.CULPRIT
    assert answer.suspects[0].target.host == "node-07"


def test_a_placement_among_the_evidence_maps_ranks_to_hosts():
    simulation = simulate("hang_compute", seed=4, hosts=2)

    answer = diagnose(item for item in simulation.evidence() if not item.name.endswith(".log"))

    assert answer.suspects[0].target.host == simulation.truth.culprit_hosts[0]


def test_a_second_placement_is_told_and_not_used():
    first = b'[{"rank": 0, "host": "node-1"}]'
    second = b'[{"rank": 0, "host": "node-2"}]'

    answer = diagnose([evidence("a.json", first), evidence("b.json", second)])

    assert {item.file for item in answer.skipped} == {"b.json"}


def test_counters_alone_name_the_rank_that_did_not_launch_in_two_samples():
    lines = [
        {"time": time, "comm": "dp", "size": 4, "rank": rank, "cl": 40 if rank == 2 else 41}
        for time in (100.0, 160.0)
        for rank in range(4)
    ]
    content = b"\n".join(json.dumps(line).encode() for line in lines)

    answer = diagnose([evidence("counters.jsonl", content)])

    assert answer.suspects[0].target.rank == 2
    assert "collective_progress" in answer.pictures
