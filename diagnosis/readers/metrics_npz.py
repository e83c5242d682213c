"""Metric windows in NumPy archives: `values`, `metrics`, `hosts`, `time` (docs/contract.md)."""

import lzma
import zipfile
import zlib
from io import BytesIO
from typing import IO

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import MetricWindow, without_blanks
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.metrics_grid import MAX_CELLS

_MEMBERS = ("values", "metrics", "hosts", "time")
_BYTES_PER_CELL = 8
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
)


def read_npz(content: bytes) -> MetricWindow:
    """The window in an `.npz`: values (metrics, hosts, samples), and the names of its axes.

    Nothing is unpickled, and each array's header is held against the bytes that are there before
    memory is taken. Raises `UnreadableEvidence`.
    """
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            arrays = {name: _member(archive, name) for name in _MEMBERS}
            devices = _member(archive, "devices") if "devices.npy" in archive.namelist() else None
    except _DAMAGED as error:
        raise UnreadableEvidence(f"not a readable NPZ archive: {error}") from error
    return _window(arrays, devices)


def _member(archive: zipfile.ZipFile, name: str) -> npt.NDArray[np.generic]:
    try:
        entry = archive.getinfo(f"{name}.npy")
    except KeyError:
        raise UnreadableEvidence(f"NPZ holds no array '{name}'") from None
    with archive.open(entry) as stream:
        shape, fortran, dtype = _header(stream, name)
        cells = int(np.prod(shape, dtype=object)) if shape else 1
        if cells > MAX_CELLS or cells * dtype.itemsize > MAX_CELLS * _BYTES_PER_CELL:
            raise UnreadableEvidence(f"array '{name}' is too large: {cells} cells")
        if cells * dtype.itemsize > entry.file_size:
            raise UnreadableEvidence(f"array '{name}' is cut off: its header promises more")
        body = stream.read(cells * dtype.itemsize)
    if len(body) < cells * dtype.itemsize:
        raise UnreadableEvidence(f"array '{name}' is cut off")
    array = np.frombuffer(body, dtype=dtype, count=cells)
    return array.reshape(shape, order="F" if fortran else "C")


def _header(stream: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    try:
        version = np.lib.format.read_magic(stream)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, fortran, dtype = read(stream)
    except (ValueError, KeyError, TypeError, SyntaxError) as error:
        raise UnreadableEvidence(f"array '{name}' has no valid NPY header: {error}") from error
    if dtype.hasobject:
        raise UnreadableEvidence(f"array '{name}' holds pickled objects; these are never opened")
    return shape, fortran, dtype


def _window(
    arrays: dict[str, npt.NDArray[np.generic]], devices: npt.NDArray[np.generic] | None
) -> MetricWindow:
    values, time = arrays["values"], arrays["time"]
    if values.ndim != 3 or values.dtype.kind not in "fiu":
        raise UnreadableEvidence("'values' must be numbers of shape (metrics, hosts, samples)")
    if time.ndim != 1 or time.dtype.kind not in "fiu" or not np.all(np.isfinite(time)):
        raise UnreadableEvidence("'time' must be a row of seconds")
    seconds, first = np.unique(time.astype(np.float64), return_index=True)
    if len(time) != values.shape[2]:
        raise UnreadableEvidence(f"{len(time)} times for {values.shape[2]} samples")
    clean = without_blanks(values)
    ordered = _in_order(first) and len(first) == len(time)
    try:
        return MetricWindow(
            values=clean if ordered else clean[:, :, first],
            metrics=_names(arrays["metrics"], "metrics"),
            hosts=_names(arrays["hosts"], "hosts"),
            time=seconds,
            devices=() if devices is None else tuple(n or None for n in _names(devices, "devices")),
        )
    except ValueError as error:
        raise UnreadableEvidence(f"arrays do not fit together: {error}") from error


def _in_order(first: npt.NDArray[np.intp]) -> bool:
    return bool(np.array_equal(first, np.arange(len(first))))


def _names(array: npt.NDArray[np.generic], what: str) -> tuple[str, ...]:
    if array.ndim != 1 or array.dtype.kind not in "US":
        raise UnreadableEvidence(f"'{what}' must be a row of names")
    return tuple(
        item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)
        for item in array.tolist()
    )
