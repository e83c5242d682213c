"""Reader of logs: training output, collective library, kernel, scheduler, switch and BMC lines.

`read_records` gives every record in order; it is for showing and for tests. Whoever looks for few
lines in much text scans `read_blocks` and cuts records with `span_at` and `record_of`.
"""

from collections.abc import Iterator

from diagnosis.core.evidence import Evidence
from diagnosis.readers.logs_blocks import BLOCK_BYTES, Block, Line, parsed_line, read_blocks
from diagnosis.readers.logs_records import (
    TIME_LOOK_BACK,
    Record,
    record_of,
    records_in,
    span_at,
    stamp_before,
)
from diagnosis.readers.logs_times import Stamp

__all__ = [
    "Block",
    "Line",
    "Record",
    "last_stamp",
    "parsed_line",
    "read_blocks",
    "read_records",
    "record_of",
    "span_at",
    "stamp_before",
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
    for start in block.starts_before(len(block.text), TIME_LOOK_BACK):
        stamp = block.line_at(start).head.stamp
        if stamp is not None:
            return stamp
    return None
