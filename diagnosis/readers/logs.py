"""Reader of logs: training output, collective library, kernel, scheduler, switch and BMC lines.

`read_records` gives every record in order; it is for showing and for tests. Whoever looks for few
lines in much text scans `read_blocks` and cuts records with `span_at` and `record_of`.
"""

from collections.abc import Iterator

from diagnosis.core.evidence import Evidence
from diagnosis.readers.logs_blocks import (
    BLOCK_BYTES,
    MAX_LINE_BYTES,
    Block,
    read_blocks,
    shortened,
)
from diagnosis.readers.logs_lines import Line, is_plain, parsed_line
from diagnosis.readers.logs_records import (
    Record,
    nearest_stamp,
    record_of,
    records_in,
    span_at,
)
from diagnosis.readers.logs_times import Stamp

__all__ = [
    "MAX_LINE_BYTES",
    "Block",
    "Line",
    "Record",
    "is_plain",
    "last_stamp",
    "parsed_line",
    "read_blocks",
    "read_records",
    "record_of",
    "shortened",
    "span_at",
]


def read_records(evidence: Evidence, block_bytes: int = BLOCK_BYTES) -> Iterator[Record]:
    """The records of one log, in order. Memory is bounded by the block, whatever the file's size.

    A record ends at the latest with its block. No bytes make it raise; errors of the stream itself
    (`OSError`, `EOFError`) pass through.
    """
    known: Stamp | None = None
    with evidence.open() as stream:
        for block in read_blocks(stream, block_bytes):
            yield from records_in(evidence.name, block, known)
            known = last_stamp(block) or known


def last_stamp(block: Block) -> Stamp | None:
    """The last stamp that the block's lines carry, as far back as a line would inherit it."""
    return nearest_stamp(block, len(block.text))
