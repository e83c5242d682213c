"""All sources of collective counters behind one call; which one a file is of tells its head."""

from collections.abc import Callable, Mapping, Sequence

from diagnosis.core.counters import CounterSheet
from diagnosis.core.diagnosis import Skipped
from diagnosis.core.evidence import Evidence
from diagnosis.readers.counter_lines import read_counter_lines
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.kinds import HEAD_BYTES, counters_of
from diagnosis.readers.nccl_inspector import read_inspector
from diagnosis.readers.nccl_ras_sheet import read_ras_sheet
from diagnosis.readers.profiler_trace import read_profiler_trace
from diagnosis.readers.proxy_trace import read_proxy_trace

READERS: Mapping[str, Callable[[Evidence], CounterSheet]] = {
    "lines": read_counter_lines,
    "inspector": read_inspector,
    "profiler": read_profiler_trace,
    "ras": read_ras_sheet,
    "proxy": read_proxy_trace,
}


def read_counters(evidence: Sequence[Evidence]) -> tuple[CounterSheet, list[Skipped]]:
    """The rows of all files, and why others cannot be read; never raises for bad content."""
    sheets, skipped = [], []
    for item in sorted(evidence, key=lambda item: item.name):
        try:
            with item.open() as stream:
                source = counters_of(stream.read(HEAD_BYTES))
            if source not in READERS:
                raise UnreadableEvidence("no collective counters that Aegis reads")
            found = READERS[source](item)
            if not found.rows:
                raise UnreadableEvidence("no counters of any rank are in it")
            sheets.append(found)
        except (UnreadableEvidence, OSError, EOFError, ValueError) as error:
            skipped.append(Skipped(item.name, str(error)))
    return CounterSheet.joined(sheets), skipped
