"""Operation traces as tables: one row an operation, with its replica, stage and micro-batch."""

import csv
from collections.abc import Mapping, Sequence
from io import BytesIO, StringIO

import numpy as np
import numpy.typing as npt

from diagnosis.core.operations import OperationTrace
from diagnosis.readers.errors import UnreadableEvidence

COLUMNS = ("dp_rank", "stage", "step", "optype", "duration", "mb_id")
#: Larger grids (cells) are refused: 1,000 steps × 128 replicas × 16 stages × 32 batches fit.
MAX_CELLS = 100_000_000
_MARK = b"optype"

Columns = Mapping[str, Sequence[object]]


def is_operation_trace(content: bytes) -> bool:
    """Do these bytes look like a table of operations (and not of metrics)?"""
    parquet = content.startswith(b"PAR1")
    return _MARK in (content[-65536:] if parquet else content[:4096].partition(b"\n")[0])


def read_operations(content: bytes) -> OperationTrace:
    """The trace in a CSV or Parquet table with the columns of `COLUMNS`, and `rank` if known.

    Operations other than forward and backward computation are left out. Raises
    `UnreadableEvidence`.
    """
    columns = _parquet(content) if content.startswith(b"PAR1") else _csv(content)
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise UnreadableEvidence(f"operation trace lacks the column {', '.join(missing)}")
    kinds = np.array([str(kind) for kind in columns["optype"]], dtype=np.str_)
    try:
        numbers = {
            name: np.array(columns[name], dtype=np.float64)
            for name in (*COLUMNS, "rank")
            if name != "optype" and name in columns
        }
    except (TypeError, ValueError) as error:
        raise UnreadableEvidence(
            f"operation trace holds a value that is no number: {error}"
        ) from error
    computing = np.char.endswith(kinds, "-compute") & (numbers["mb_id"] >= 0)
    computing &= (numbers["stage"] >= 0) & (numbers["dp_rank"] >= 0)
    computing &= np.isfinite([numbers[name] for name in COLUMNS if name != "optype"]).all(axis=0)
    if not computing.any():
        raise UnreadableEvidence("operation trace holds no forward or backward computation")
    return _trace({name: row[computing] for name, row in numbers.items()}, kinds[computing])


def _trace(
    numbers: Mapping[str, npt.NDArray[np.float64]], kinds: npt.NDArray[np.str_]
) -> OperationTrace:
    steps, step = np.unique(numbers["step"], return_inverse=True)
    replica, stage, batch = (
        numbers[name].astype(np.int64) for name in ("dp_rank", "stage", "mb_id")
    )
    shape = (len(steps), int(replica.max()) + 1, int(stage.max()) + 1, int(batch.max()) + 1)
    if np.prod(shape, dtype=float) > MAX_CELLS:
        raise UnreadableEvidence(f"operation trace is too large: {shape}")
    passes = {}
    for name in ("forward", "backward"):
        passes[name] = np.full(shape, np.nan)
        mine = np.char.startswith(kinds, name)
        at = step[mine], replica[mine], stage[mine], batch[mine]
        passes[name][at] = numbers["duration"][mine]
    ranks = np.full(shape[1:3], -1, dtype=np.int64)
    if "rank" in numbers:
        ranks[replica, stage] = np.nan_to_num(numbers["rank"], nan=-1).astype(np.int64)
    return OperationTrace(
        forward=passes["forward"],
        backward=passes["backward"],
        steps=tuple(int(number) for number in steps),
        ranks=ranks,
    )


def _csv(content: bytes) -> Columns:
    try:
        rows = list(csv.reader(StringIO(content.decode("utf-8-sig"))))
    except (UnicodeDecodeError, csv.Error) as error:
        raise UnreadableEvidence(f"operation trace is no CSV: {error}") from error
    if not rows:
        raise UnreadableEvidence("operation trace is empty")
    header = [name.strip() for name in rows[0]]
    whole = [row for row in rows[1:] if len(row) == len(header)]
    return {name: [row[index] for row in whole] for index, name in enumerate(header)}


def _parquet(content: bytes) -> Columns:
    try:
        from pyarrow import ArrowException  # noqa: PLC0415 - optional
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415
    except ImportError:
        raise UnreadableEvidence("Parquet needs pyarrow: pip install pyarrow, or use CSV") from None
    try:
        file = ParquetFile(BytesIO(content))
        names = [name for name in file.schema_arrow.names if name in (*COLUMNS, "rank")]
        table = file.read(columns=names)
        return {name: table.column(name).to_pylist() for name in names}
    except (ArrowException, OSError, ValueError) as error:
        raise UnreadableEvidence(f"operation trace is no readable Parquet: {error}") from error
