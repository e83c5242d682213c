"""Metric windows as packed blocks: what is kept beside an incident, and read back whole."""

import struct

import numpy as np
import orjson
import zstandard

from diagnosis.core.metrics import MetricWindow
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.metrics_grid import MAX_CELLS

MAGIC = b"AEGISMW1"
_LENGTH = struct.Struct("<I")
_MAX_HEADER = 64 * 1024**2
#: Level 1 packs float32 noise as well as higher levels do, several times sooner.
_LEVEL = 1


def pack_window(window: MetricWindow) -> bytes:
    """The window as one block: magic, header (JSON: names, shape), float32 and float64 in zstd."""
    header = orjson.dumps(
        {
            "metrics": window.metrics,
            "hosts": window.hosts,
            "devices": window.devices,
            "samples": len(window.time),
        }
    )
    body = window.time.astype("<f8").tobytes() + window.values.astype("<f4", copy=False).tobytes()
    packed = zstandard.ZstdCompressor(level=_LEVEL).compress(body)
    return MAGIC + _LENGTH.pack(len(header)) + header + packed


def read_block(content: bytes) -> MetricWindow:
    """The window in a packed block; raises `UnreadableEvidence` for anything else."""
    start = len(MAGIC) + _LENGTH.size
    if not content.startswith(MAGIC) or len(content) < start:
        raise UnreadableEvidence("not a packed metric window")
    (length,) = _LENGTH.unpack_from(content, len(MAGIC))
    if length > min(_MAX_HEADER, len(content) - start):
        raise UnreadableEvidence("packed metric window is cut off in its header")
    try:
        header = orjson.loads(content[start : start + length])
        metrics, hosts = tuple(map(str, header["metrics"])), tuple(map(str, header["hosts"]))
        devices = tuple(None if name is None else str(name) for name in header["devices"])
        samples = int(header["samples"])
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise UnreadableEvidence(f"packed metric window has no valid header: {error}") from error
    cells = len(metrics) * len(hosts) * samples
    if not 0 <= cells <= MAX_CELLS or samples < 0:
        raise UnreadableEvidence(f"packed metric window is too large: {cells} cells")
    size = 8 * samples + 4 * cells
    try:
        unpacker = zstandard.ZstdDecompressor()
        body = unpacker.stream_reader(content[start + length :]).read(size + 1)
    except zstandard.ZstdError as error:
        raise UnreadableEvidence(f"packed metric window is damaged: {error}") from error
    if len(body) != size:
        raise UnreadableEvidence("packed metric window is cut off")
    time = np.frombuffer(body, "<f8", samples)
    values = np.frombuffer(body, "<f4", cells, offset=8 * samples)
    try:
        shaped = values.reshape(len(metrics), len(hosts), samples)
        return MetricWindow(shaped, metrics, hosts, time, devices)
    except ValueError as error:
        raise UnreadableEvidence(f"packed metric window does not fit together: {error}") from error
