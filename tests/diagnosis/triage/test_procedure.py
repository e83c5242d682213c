from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.core.evidence import Evidence
from diagnosis.core.words import Action, IncidentKind, Role, VerdictClass
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.triage.procedure import triage
from diagnosis.triage.settings import TriageSettings
from tests.diagnosis.readers.logs_evidence import log
from tests.diagnosis.taxonomy.rows import row
from tests.diagnosis.triage.judged import isolated, judged, placed, result_of, timeout_line

XID_79 = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=python, GPU has fallen off the bus.\n"


def test_without_logs_there_is_no_conclusion() -> None:
    assert result_of({}).conclusion is None


def test_a_log_that_cannot_be_opened_is_skipped_with_the_reason_and_the_rest_is_judged() -> None:
    def broken() -> BinaryIO:
        raise OSError("disk on fire")

    result = triage(
        [Evidence("bad.log", broken, 10), log("KeyError: 'x'\n", "good.log")],
        taxonomy=Taxonomy.default(),
    )
    assert [(one.file, "disk on fire" in one.reason) for one in result.skipped] == [
        ("bad.log", True)
    ]
    assert result.conclusion is not None
    assert result.conclusion.verdict.cls is VerdictClass.USER


def test_a_finding_leads_back_to_its_line() -> None:
    text = "[    1.000000] fine\n[   70.000000] " + XID_79
    conclusion = judged({"node-04.dmesg.log": text})
    finding = conclusion.suspects[0].findings[0]
    assert finding.evidence == "node-04.dmesg.log"
    assert finding.locator is not None
    assert (finding.locator["line"], finding.locator["offset"]) == (2, text.index("\n") + 1)


def test_equal_lines_are_one_finding_with_count_first_and_last() -> None:
    text = "".join(f"[Tue Mar  4 02:00:0{second} 2025] {XID_79}" for second in range(5))
    (finding,) = judged({"node-04.dmesg.log": text}).suspects[0].findings
    assert finding.locator is not None
    assert finding.locator["count"] == 5
    assert finding.locator["last"] == finding.locator["first"] + 4  # type: ignore[operator]


def test_a_flood_of_one_line_is_one_finding() -> None:
    text = "[rank1]: RuntimeError: CUDA error: an illegal memory access was encountered\n" * 20_000
    (finding,) = judged({"rank-1.log": text}).suspects[0].findings
    assert finding.locator is not None
    assert finding.locator["count"] == 20_000


def test_a_placed_rank_is_named_with_its_host_and_gpu() -> None:
    text = "[rank11]: RuntimeError: CUDA error: uncorrectable ECC error encountered\n"
    target = judged({"train.log": text}, placement=placed(2)).suspects[0].target
    assert (target.host, target.rank, target.gpu) == ("node-02", 11, "3")


def test_a_host_log_of_a_host_that_is_not_the_jobs_does_not_count() -> None:
    files = {"node-99.dmesg.log": "[   70.000000] " + XID_79, "train.log": "KeyError: 'x'\n"}
    assert judged(files, placement=placed(2)).verdict.cls is VerdictClass.USER


def test_a_row_of_another_taxonomy_decides() -> None:
    taxonomy = Taxonomy.from_rows([row(pattern="FLUX LOST", action="isolate-host")])
    result = triage([log("FLUX LOST\n", "node-04.dmesg.log")], taxonomy=taxonomy)
    assert result.conclusion is not None
    assert isolated(result.conclusion) == ["node-04"]


def test_the_launchers_exit_code_tells_who_is_gone() -> None:
    text = (
        "E0304 02:00:02.000000 12 torch/distributed/elastic/multiprocessing/api.py:869] failed "
        "(exitcode: -9) local_rank: 3 (pid: 47) of binary: /usr/bin/python3\n"
    )
    result = result_of({"train.log": text})
    assert list(result.ended_ranks) == [3]


def test_an_abort_by_the_watchdog_is_no_end_of_its_own() -> None:
    text = (
        "  host      : node-01\n  rank      : 3 (local_rank: 3)\n  exitcode  : -6 (pid: 47)\n"
        "  traceback : Signal 6 (SIGABRT) received by PID 47\n"
    )
    assert result_of({"train.log": text}).ended_ranks == {}


def test_a_bare_sigkill_condemns_no_hardware() -> None:
    text = "  host      : node-01\n  rank      : 5 (local_rank: 5)\n  exitcode  : -9 (pid: 26)\n"
    conclusion = judged({"train.log": text})
    assert conclusion.verdict.cls is VerdictClass.UNKNOWN
    assert conclusion.suspects[0].role is Role.POSSIBLE
    assert isolated(conclusion) == []


def test_a_killed_rank_before_the_timeouts_is_possible_and_no_more() -> None:
    exit_line = (
        "E0304 02:00:02.000000 12 torch/distributed/elastic/multiprocessing/api.py:869] failed "
        "(exitcode: -9) local_rank: 3 (pid: 47) of binary: /usr/bin/python3\n"
    )
    conclusion = judged({"train.log": exit_line + timeout_line(1) + timeout_line(2)})
    assert conclusion.suspects[0].target.rank == 3
    assert conclusion.suspects[0].role is Role.POSSIBLE


def test_timeouts_on_all_ranks_name_nobody() -> None:
    text = "".join(timeout_line(rank) for rank in range(8))
    conclusion = judged({"train.log": text}, placement=placed(1))
    assert (conclusion.verdict.cls, conclusion.verdict.kind) == (
        VerdictClass.DISTRIBUTED,
        IncidentKind.HANG,
    )
    assert conclusion.suspects == ()


def test_the_one_rank_that_says_nothing_is_possible() -> None:
    text = "".join(timeout_line(rank) for rank in range(8) if rank != 5)
    conclusion = judged({"train.log": text}, placement=placed(1))
    assert [(one.target.rank, one.role) for one in conclusion.suspects] == [(5, Role.POSSIBLE)]
    assert isolated(conclusion) == []


def test_user_code_that_fails_after_the_fan_out_is_not_its_cause() -> None:
    text = timeout_line(1) + "2025-03-04 02:11:00,000 INFO x\nKeyError: 'x'\n"
    assert judged({"train.log": text}).verdict.cls is VerdictClass.DISTRIBUTED


def test_user_code_that_fails_before_the_fan_out_is() -> None:
    text = "2025-03-04 02:01:00,000 INFO x\nKeyError: 'x'\n" + timeout_line(1)
    conclusion = judged({"train.log": text})
    assert conclusion.verdict.cls is VerdictClass.USER
    assert {item.action for item in conclusion.recommendations} == {Action.FIX_CODE}


def test_few_reporters_are_isolated_only_when_every_log_is_there() -> None:
    reset = "RuntimeError: NCCL error: remote process exited or there was a network error\n"
    files = {f"node-0{number}.log": "step 1\n" for number in range(1, 7)}
    files["node-03.log"] = reset
    assert isolated(judged(files, placement=placed(6))) == ["node-03"]
    del files["node-05.log"]
    assert isolated(judged(files, placement=placed(6))) == []


def test_a_host_that_falls_silent_is_possible() -> None:
    files = {
        "node-01.log": "2025-03-04 01:40:00,000 INFO step 1\n",
        "node-02.log": "2025-03-04 02:09:00,000 INFO step 9\n" + timeout_line(9),
    }
    conclusion = judged(files)
    assert [(one.target.host, one.role) for one in conclusion.suspects] == [
        ("node-01", Role.POSSIBLE)
    ]


def test_a_stamp_without_year_gets_it_from_the_other_logs() -> None:
    files = {
        "node-01.syslog.log": "Mar  4 02:00:00 node-01 kernel: " + XID_79,
        "train.log": "2025-03-04 02:00:05,000 INFO x\nKeyError: 'x'\n",
    }
    finding = judged(files).suspects[0].findings[0]
    assert finding.time == 1741053600.0


def test_a_stamp_whose_year_nothing_tells_stays_without_one() -> None:
    files = {"node-01.syslog.log": "Mar  4 02:00:00 node-01 kernel: " + XID_79}
    assert judged(files).suspects[0].findings[0].time == "--03-04T02:00:00"


def test_the_reading_moment_gives_the_year_where_it_is_told() -> None:
    files = {"node-01.syslog.log": "Mar  4 02:00:00 node-01 kernel: " + XID_79}
    settings = TriageSettings(now=1741100000.0)
    assert judged(files, settings=settings).suspects[0].findings[0].time == 1741053600.0


def test_uptime_becomes_a_time_where_the_log_tells_the_boot() -> None:
    text = (
        "[    1.000000] rtc_cmos: setting system clock to 2025-03-04T02:00:00 UTC (1741053600)\n"
        "[   71.000000] " + XID_79
    )
    assert judged({"node-01.dmesg.log": text}).suspects[0].findings[0].time == 1741053670.0


@pytest.mark.parametrize(
    ("offset", "first"), [(0.0, "node-01"), (30.0, "node-02")], ids=["as stamped", "corrected"]
)
def test_known_clock_offsets_decide_who_was_first(offset: float, first: str) -> None:
    files = {
        "node-01.dmesg.log": f"[Tue Mar  4 02:00:01 2025] {XID_79}",
        "node-02.dmesg.log": f"[Tue Mar  4 02:00:09 2025] {XID_79}",
    }
    settings = TriageSettings(clock_offsets={"node-02": offset})
    assert judged(files, settings=settings).suspects[0].target.host == first


def test_clocks_that_disagree_by_more_than_the_gap_lower_the_confidence() -> None:
    files = {
        "node-01.log": f"[Tue Mar  4 02:00:01 2025] {XID_79}" + timeout_line(0, at="02:10:00"),
        "node-02.log": f"[Tue Mar  4 02:00:03 2025] {XID_79}" + timeout_line(8, at="02:10:40"),
    }
    conclusion = judged(files, placement=placed(2))
    assert conclusion.verdict.confidence <= 0.6
    assert any("clock doubt" in line for line in conclusion.trace)


_CHUNKS = st.lists(
    st.sampled_from(
        [
            XID_79.encode(),
            b"KeyError: 'x'\n",
            b"Traceback (most recent call last):\n",
            b'  File "/opt/a.py", line 1, in f\n',
            timeout_line(3).encode(),
            b"\x1b[31m",
            b"\xff\xfe\x00",
            b"\r",
            b"\n",
            b"[rank3]: ",
            b"{",
        ]
    ),
    max_size=12,
)


@given(_CHUNKS)
def test_no_log_makes_it_raise(chunks: list[bytes]) -> None:
    result = triage([log(b"".join(chunks), "node-01.log")], taxonomy=Taxonomy.default())
    assert result.conclusion is not None
