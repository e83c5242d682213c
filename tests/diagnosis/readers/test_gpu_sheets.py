import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.readers.gpu_sheets import SheetPlace, Sheets
from diagnosis.readers.logs_blocks import Block, read_blocks

SHEET = """\
GPU 00000000:9B:00.0
    Serial Number                         : 1324
    GPU UUID                              : GPU-5f
    ECC Errors
        Volatile
            DRAM Uncorrectable            : 2
        Aggregate
            SRAM Threshold Exceeded       : Yes
    Remapped Rows
        Pending                           : Yes
"""
LINES = st.lists(
    st.sampled_from([*SHEET.splitlines(), "step 1", "", "GPU 00000000:1B:00.0"]),
    min_size=2,
    max_size=40,
)


def block_of(text: str) -> Block:
    return next(read_blocks(io.BytesIO(text.encode())))


@pytest.mark.parametrize(
    ("words", "headings"),
    [
        ("DRAM Uncorrectable", ("Volatile", "ECC Errors")),
        ("SRAM Threshold", ("Aggregate", "ECC Errors")),
        ("Pending", ("Remapped Rows",)),
    ],
)
def test_a_line_stands_below_its_headings_of_its_gpu(words: str, headings: tuple[str, ...]) -> None:
    start = SHEET.rindex("\n", 0, SHEET.index(words)) + 1
    place = Sheets().place(block_of(SHEET), start)
    assert place == SheetPlace("00000000:9B:00.0", "1324", "GPU-5f", headings)


@given(LINES)
def test_what_was_asked_before_makes_no_difference(lines: list[str]) -> None:
    block, sheets = block_of("\n".join(["", *lines])), Sheets()
    starts = block.starts.tolist()
    assert [sheets.place(block, start) for start in starts] == [
        Sheets().place(block, start) for start in starts
    ]
