"""One entry for metric files: CSV, Parquet, OpenMetrics text or NPZ, told by their content."""

import re
import zlib

import zstandard

from diagnosis.core.evidence import Evidence
from diagnosis.core.metrics import MetricWindow
from diagnosis.readers.compression import decompressed
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.metrics_block import MAGIC, read_block
from diagnosis.readers.metrics_npz import read_npz
from diagnosis.readers.metrics_openmetrics import read_openmetrics
from diagnosis.readers.metrics_table import read_csv, read_parquet

#: Larger files (bytes, unpacked) are refused.
METRIC_FILE_MAX_BYTES = 2 * 1024**3

_BROKEN = (OSError, EOFError, ValueError, zlib.error, zstandard.ZstdError)
_CSV_HEAD = re.compile(rb"^(?:\xef\xbb\xbf)?[^\n{}#]*\bmetric\b[^\n{}]*\n", re.IGNORECASE)


def read_metrics(evidence: Evidence) -> MetricWindow:
    """The metric window that a file holds; raises `UnreadableEvidence` with the reason."""
    return read_metric_bytes(metric_content(evidence))


def metric_content(evidence: Evidence) -> bytes:
    """The file's bytes without compression; raises `UnreadableEvidence` where it cannot be read."""
    try:
        with decompressed(evidence).open() as stream:
            content = stream.read(METRIC_FILE_MAX_BYTES + 1)
    except _BROKEN as error:
        raise UnreadableEvidence(f"cannot be opened: {error}") from error
    if len(content) > METRIC_FILE_MAX_BYTES:
        raise UnreadableEvidence("metric file is larger than 2 GiB")
    return content


def read_metric_bytes(content: bytes) -> MetricWindow:
    """The metric window in these bytes; raises `UnreadableEvidence` with the reason."""
    if not content:
        raise UnreadableEvidence("empty: the file has no content (0 bytes)")
    if content.startswith(b"PK"):
        return read_npz(content)
    if content.startswith(MAGIC):
        return read_block(content)
    if content.startswith(b"PAR1"):
        return read_parquet(content)
    if b"\x00" in content[:4096]:
        raise UnreadableEvidence("binary data that is neither NPZ nor Parquet")
    if _CSV_HEAD.match(content[:4096]):
        return read_csv(content)
    return read_openmetrics(content)
