from hypothesis import given
from hypothesis import strategies as st

from diagnosis.readers.logs import read_records
from diagnosis.readers.logs_times import Clock
from tests.diagnosis.readers.logs_evidence import log


def test_a_traceback_is_one_record() -> None:
    text = (
        "2025-03-04 02:00:00,123 INFO step 1\n"
        "Traceback (most recent call last):\n"
        '  File "/opt/train.py", line 3, in <module>\n'
        "    main()\n"
        "KeyError: 'x'\n"
        "2025-03-04 02:00:01,123 INFO step 2\n"
    )
    records = list(read_records(log(text)))
    assert [(record.line, record.lines) for record in records] == [(1, 1), (2, 4), (6, 1)]


def test_a_record_without_time_inherits_the_time_before_it() -> None:
    records = list(read_records(log("2025-03-04 02:00:00,123 INFO a\n\nKeyError: 'x'\n")))
    assert records[-1].time == records[0].time
    assert (records[-1].inherited, records[0].inherited) == (True, False)


def test_time_is_inherited_over_the_end_of_a_block() -> None:
    text = "2025-03-04 02:00:00,123 INFO a\n" + "\n" * 40 + "KeyError: 'x'\n"
    records = list(read_records(log(text), block_bytes=40))
    assert records[-1].time == records[0].time


def test_records_without_any_time_have_none() -> None:
    (record,) = read_records(log("KeyError: 'x'\n"))
    assert (record.time, record.clock) == (None, Clock.NONE)


def test_a_kernel_message_over_indented_lines_is_one_record() -> None:
    text = (
        "[ 1843.112007] NVRM: The NVIDIA GPU 0000:b3:00.0\n"
        "               NVRM: (PCI ID: 10de:26b5) installed in this system has\n"
        "               NVRM: fallen off the bus and is not responding to commands.\n"
        "[ 1843.114460] nvidia: probe of 0000:b3:00.0 failed with error -1\n"
    )
    assert [record.lines for record in read_records(log(text))] == [3, 1]


def test_lines_of_other_ranks_in_between_do_not_cut_a_traceback() -> None:
    text = (
        "[rank0]: Traceback (most recent call last):\n"
        "[rank1]: Traceback (most recent call last):\n"
        '[rank0]:   File "/opt/a.py", line 1, in f\n'
        '[rank1]:   File "/opt/b.py", line 2, in g\n'
        "[rank0]: KeyError: 'a'\n"
        "[rank1]: KeyError: 'b'\n"
    )
    texts = {record.head.rank: record.text for record in read_records(log(text))}
    assert "a.py" in texts[0]
    assert "KeyError: 'a'" in texts[0]
    assert "b.py" not in texts[0]


def test_a_line_that_a_runner_wrapped_belongs_to_the_line_before_it() -> None:
    text = (
        "run.node-04 [stderr] [rank14]:[E909 06:55:29.1 ProcessGroupNCCL.cpp:1664] at work: \n"
        "2070, last enqueued NCCL work: 2070\n"
        "run.node-04 [stderr] [rank12]:[E909 06:55:29.1 ProcessGroupNCCL.cpp:1664] at work: \n"
        "2071, last enqueued NCCL work: 2071\n"
    )
    records = list(read_records(log(text)))
    assert [(record.head.rank, "2070" in record.text) for record in records] == [
        (14, True),
        (12, False),
    ]


@given(st.binary(max_size=300), st.integers(8, 64))
def test_any_bytes_make_records_and_every_offset_is_in_the_file(data: bytes, size: int) -> None:
    records = list(read_records(log(data), block_bytes=size))
    assert all(0 <= record.offset <= len(data) for record in records)


@given(
    st.lists(st.sampled_from(["[rank0]: a", "  b", "Traceback (most recent call last):", "", "c"]))
)
def test_every_line_is_in_exactly_one_record(lines: list[str]) -> None:
    text = "".join(line + "\n" for line in lines)
    records = list(read_records(log(text)))
    assert sum(record.text.count("\n") + 1 for record in records) == len(lines)
