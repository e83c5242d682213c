import pytest

from diagnosis.readers.logs_c10d import WatchdogReport, watchdog_report


def test_a_timeout_tells_the_work_and_how_long_it_ran() -> None:
    report = watchdog_report(
        "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, "
        "OpType=ALLREDUCE, NumelIn=4, NumelOut=8, Timeout(ms)=600000) ran for 600060 milliseconds"
    )
    assert report == WatchdogReport(1580, "ALLREDUCE", 4, 8, 600000, 600060, timed_out=True)


def test_early_lines_without_sizes_are_read() -> None:
    report = watchdog_report(
        "WorkNCCL(SeqNum=1, OpType=ALLREDUCE, Timeout(ms)=10000) ran for 10100"
    )
    assert report is not None
    assert (report.sequence, report.numel_in, report.ran_ms) == (1, None, 10100)


_STATUS_LINES = {
    "[PG ID 0 PG GUID 0(default_pg) Rank 7] Exception (either an error or timeout) detected by "
    "watchdog at work: 5, last enqueued NCCL work: 9, last completed NCCL work: 4.": "default",
    "[PG 0 (default_pg) Rank 7] Exception (either an error or timeout) detected by watchdog at "
    "work: \n5, last enqueued NCCL work: 9, last completed NCCL work: 4.": "default",
    "[PG ID 11 PG GUID 119 Rank 7]  failure detected by watchdog at work sequence id: 5 PG "
    "status: last enqueued work: 9, last completed work: 4": "119",
    "[PG 0 Rank 7] Timeout at NCCL work: 5, last enqueued NCCL work: 9, last completed NCCL "
    "work: 4.": "default",
}


@pytest.mark.parametrize(("line", "group"), _STATUS_LINES.items())
def test_every_era_of_the_status_line_is_read(line: str, group: str) -> None:
    report = watchdog_report(line)
    assert report is not None
    assert (report.sequence, report.enqueued, report.completed, report.group) == (5, 9, 4, group)


def test_a_relayed_signal_is_no_timeout_of_its_own() -> None:
    report = watchdog_report(
        "[PG ID 0 PG GUID 0(default_pg) Rank 0] Observed flight recorder dump signal from another "
        "rank via TCPStore."
    )
    assert report is not None
    assert (report.relayed, report.timed_out) == (True, False)


def test_the_garbage_of_an_unset_counter_is_left_out() -> None:
    report = watchdog_report("last enqueued work: 5, last completed work: 3452013982")
    assert report is not None
    assert (report.enqueued, report.completed) == (5, None)


def test_other_lines_tell_nothing() -> None:
    assert (
        watchdog_report("[Rank 3] To avoid data inconsistency, we are taking the process down.")
        is None
    )
