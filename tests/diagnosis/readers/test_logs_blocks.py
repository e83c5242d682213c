import io
import os
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.readers.logs_blocks import MAX_LINE_BYTES, read_blocks
from diagnosis.readers.logs_json import message_in


def lines_of(data: bytes, block_bytes: int = 1 << 20) -> list[tuple[int, int, str]]:
    """Number, offset and text of every line."""
    return lines_in(io.BytesIO(data), block_bytes)


def lines_in(stream: BinaryIO, block_bytes: int) -> list[tuple[int, int, str]]:
    return [
        (block.number(index), block.offset(index), block.line(index).text)
        for block in read_blocks(stream, block_bytes)
        for index in range(len(block))
    ]


def test_lines_have_numbers_from_one_and_byte_offsets() -> None:
    assert lines_of(b"one\ntwo\n\nfour") == [
        (1, 0, "one"),
        (2, 4, "two"),
        (3, 8, ""),
        (4, 9, "four"),
    ]


def test_colours_are_gone_and_offsets_stay() -> None:
    assert lines_of(b"\x1b[36m(raylet)\x1b[0m one\n\x1b]0;title\x07two\n") == [
        (1, 0, "(raylet) one"),
        (2, 22, "two"),
    ]


def test_colours_that_lost_their_escape_are_gone() -> None:
    assert lines_of(b"[36m(raylet)[0m one")[0][2] == "(raylet) one"


def test_windows_line_ends_are_one_break() -> None:
    assert lines_of(b"one\r\ntwo\r\n") == [(1, 0, "one"), (2, 5, "two")]


def test_each_step_of_a_progress_bar_is_a_line_of_its_own_with_one_number() -> None:
    assert lines_of(b"10%\r20%\r30%Traceback\nnext\n") == [
        (1, 0, "10%"),
        (1, 4, "20%"),
        (1, 8, "30%Traceback"),
        (2, 21, "next"),
    ]


def test_latin_1_is_read() -> None:
    assert lines_of("größer\n".encode("latin-1")) == [(1, 0, "größer")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_wide_encodings_are_read_with_offsets_of_the_file(encoding: str) -> None:
    data = "größer\ntwo 😀\nthree".encode(encoding)
    found = lines_of(data, block_bytes=16)
    assert [text for _, _, text in found] == ["größer", "two 😀", "three"]
    narrow = encoding + "-le"
    for _, offset, text in found:
        assert data[offset:].startswith(text.encode(narrow))


def test_a_line_longer_than_a_block_is_cut_and_numbers_go_on() -> None:
    found = lines_of(b"x" * 100 + b"\nend\n", block_bytes=32)
    assert found[-1] == (2, 101, "end")
    assert {number for number, _, _ in found[:-1]} == {1}


def test_a_very_long_line_is_shown_up_to_its_bound() -> None:
    assert len(lines_of(b"x" * 500_000 + b"\n")[0][2]) == MAX_LINE_BYTES


def test_the_end_of_a_very_long_line_is_read_too() -> None:
    assert lines_of(b"x" * 500_000 + b" the end\n")[0][2].endswith("x the end")


def test_container_lines_are_unwrapped() -> None:
    data = (
        b'{"log":"[rank3]: a \\u003cb\\u003e\\n","stream":"stderr","time":"2025-03-04T02:00:00Z"}\n'
    )
    (block,) = read_blocks(io.BytesIO(data + data))
    line = block.line(1)
    assert (line.text, line.head.rank, block.number(1)) == ("[rank3]: a <b>", 3, 2)
    assert line.head.stamp is not None


@given(
    st.lists(
        st.sampled_from(
            [
                '{"log": "one\\n"}',
                '{"log": "two\\nthree\\r\\n", "time": "2025-03-04T02:00:00Z"}',
                '{"log": null, "message": "four\\r5"}',
                '{"message": "six", "log": ""}',
                '{"log": 7}',
                '{"log": [56, 57]}',
                '{"other": "ten"}',
                '{"log": "11"}, {"log": "12"}',
                '{"log": "13",',
                '"log": 14}',
                "fifteen",
                "",
            ]
        ),
        max_size=8,
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_lines_unwrapped_together_are_those_unwrapped_one_by_one(
    lines: list[str], end: str, is_ended: bool
) -> None:
    data = end.join(['{"log": "zero"}', *lines]) + end * is_ended
    told = [
        (number, part)
        for number, line in enumerate(data.replace("\r\n", "\n").removesuffix("\n").split("\n"), 1)
        for part in message_in(line.encode()).decode().split("\n")
    ]
    assert [(number, text) for number, _, text in lines_of(data.encode())] == told


def test_journal_lines_name_host_and_program_and_keep_their_line_breaks() -> None:
    data = (
        b'{"__REALTIME_TIMESTAMP":"1741053600123456","_HOSTNAME":"node-21",'
        b'"SYSLOG_IDENTIFIER":"kernel","MESSAGE":"one\\ntwo"}\n'
    )
    (block,) = read_blocks(io.BytesIO(data))
    assert [block.line(index).text for index in range(len(block))] == ["one", "two"]
    assert (block.line(1).head.spoken_host, block.number(1)) == ("node-21", 1)


@given(st.binary(max_size=400), st.integers(1, 64))
def test_any_bytes_are_read_and_offsets_stay_inside_the_file(data: bytes, block_bytes: int) -> None:
    found = lines_of(data, block_bytes)
    assert all(0 <= offset <= len(data) for _, offset, _ in found)
    assert [number for number, _, _ in found] == sorted(number for number, _, _ in found)


@given(st.lists(st.text(alphabet="abc é\t:[]", max_size=20), max_size=20), st.integers(64, 128))
def test_offsets_point_to_the_line(lines: list[str], block_bytes: int) -> None:
    data = "".join(line + "\n" for line in lines).encode()
    found = lines_of(data, block_bytes)
    assert [text for _, _, text in found] == lines
    for number, offset, text in found:
        assert data[offset:].startswith(text.encode() + b"\n")
        assert data[:offset].count(b"\n") + 1 == number


@pytest.mark.parametrize("block_bytes", [20_000, 1 << 20])
@pytest.mark.parametrize("end", [b"", b"\n", b"unfinished"])
def test_a_file_is_read_like_any_stream(block_bytes: int, end: bytes, tmp_path: Path) -> None:
    data = b"one\n\ntwo\r\n" + b"long " * 3000 + b"\nthree\rfour\n"
    data = data * 50 + end
    file = tmp_path / "train.log"
    file.write_bytes(data)
    with file.open("rb") as stream:
        assert lines_in(stream, block_bytes) == lines_of(data, block_bytes)


def test_blocks_of_a_file_end_with_a_line(tmp_path: Path) -> None:
    file = tmp_path / "train.log"
    file.write_bytes(b"a line of the log\n" * 1000)
    with file.open("rb") as stream:
        texts = [block.text for block in read_blocks(stream, 5000)]
    assert all(text.endswith(b"log\n") for text in texts)


def test_a_pipe_is_read_to_its_end() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"one\ntwo\n" * 1000)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        assert len(lines_in(stream, 4096)) == 2000


def test_what_a_kernel_names_first_is_a_part_and_no_host() -> None:
    line = b'{"MESSAGE":"switch7: fault","_HOSTNAME":"node-07","SYSLOG_IDENTIFIER":"kernel"}\n'
    head = next(read_blocks(io.BytesIO(line))).line(0).head
    assert head.spoken_host == "node-07"
