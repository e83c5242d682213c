"""A NCCL RAS answer in JSON that was handed in as evidence, as rows of counters."""

from collections.abc import Iterator
from dataclasses import replace

from diagnosis.core.counters import CounterRow, CounterSheet
from diagnosis.core.evidence import Evidence
from diagnosis.core.ras import LostRank, RasCommunicator, RasMember
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.nccl_ras_json import read_ras_json

SOURCE = "NCCL RAS"
#: An answer of 16,384 ranks in 10 communicators takes about 50 MB.
ANSWER_MAX_BYTES = 256 * 1024**2
ONE_SAMPLE = "NCCL RAS counts launches only, without sends and CUDA graphs; one sample is no proof"


def read_ras_sheet(evidence: Evidence) -> CounterSheet:
    """Rows of all ranks, without a count for those that did not answer.

    Raises `UnreadableEvidence` for what is no whole answer, `OSError` where it cannot be opened.
    """
    with evidence.open() as stream:
        content = stream.read(ANSWER_MAX_BYTES + 1)
    if len(content) > ANSWER_MAX_BYTES:
        raise UnreadableEvidence("RAS answer is larger than 256 MiB")
    status = read_ras_json(content)
    rows = tuple(
        row
        for line, communicator in enumerate(status.communicators, start=1)
        for row in _rows(evidence.name, line, communicator)
    )
    return CounterSheet(rows, (*status.notes, ONE_SAMPLE))


def _rows(name: str, line: int, found: RasCommunicator) -> Iterator[CounterRow]:
    for member in found.ranks:
        yield _row(name, line, found, member)
    for lost in found.lost:
        yield _row(name, line, found, lost)


def _row(name: str, line: int, found: RasCommunicator, member: RasMember | LostRank) -> CounterRow:
    row = CounterRow(
        communicator=found.name,
        rank=member.rank,
        source=SOURCE,
        evidence=name,
        line=line,
        size=found.size,
        host=member.process.host,
        process=member.process.pid,
    )
    if isinstance(member, LostRank):
        return row
    return replace(row, launched=member.total_launched)
