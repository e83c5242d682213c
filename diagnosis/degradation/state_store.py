"""A detector's state as bytes and back: small enough for Redis or a row, and never pickled."""

import math
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from diagnosis.degradation.answers import FleetShift
from diagnosis.degradation.blends import Blend, blended
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.peers import Peers
from diagnosis.degradation.recent import Recent
from diagnosis.degradation.scaling import Scaling, scaling_of
from diagnosis.degradation.state import (
    Alarm,
    Common,
    Excursions,
    Jumps,
    Panel,
    Smoothed,
    Watch,
)

#: Raised whenever states of an older version can no longer be read.
VERSION = 6

_PARTS = {
    "recent": Recent,
    "fast": Smoothed,
    "slow": Smoothed,
    "common": Common,
    "excursions": Excursions,
    "jumps": Jumps,
}
_NUMBERS = (
    "start", "time", "step", "ticks", "youngest", "turned", "left", "elsewhere", "moved", "turning",
    "woke",
)  # fmt: skip


_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
)


class StateError(Exception):
    """Bytes that hold no state of this version; the job is then learned anew."""


def pack_state(state: Watch) -> bytes:
    """The state as an NPZ of its arrays with one JSON text for the rest."""
    panel = state.panel
    rest = {
        "version": VERSION,
        "metrics": panel.metrics,
        "hosts": panel.hosts,
        "devices": panel.devices,
        "bounds": panel.peers.bounds,
        "writer": panel.writer,
        "blends": [asdict(blend) for blend in state.scaling.blends],
        "numbers": {name: _finite(getattr(state, name)) for name in _NUMBERS},
        "alarms": [_alarm_row(host, alarm) for host, alarm in state.alarms.items()],
        "near": [_alarm_row(host, alarm) for host, alarm in state.near.items()],
        "fleet_wide": [asdict(shift) for shift in state.fleet_wide],
    }
    arrays: dict[str, npt.NDArray[Any]] = {
        "order": panel.peers.order,
        "host": panel.peers.host,
        "unit": state.scaling.unit,
        "offset": state.offset,
        "age": state.age,
        "every": state.every,
        "rest": np.frombuffer(orjson.dumps(rest, option=orjson.OPT_SERIALIZE_NUMPY), np.uint8),
    }
    for part in _PARTS:
        held = getattr(state, part)
        if held is not None:
            arrays |= {f"{part}.{name}": value for name, value in vars(held).items()}
    packed = BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    return packed.getvalue()


def read_state(content: bytes, catalogue: Catalogue | None = None) -> Watch:
    """The state in `pack_state`'s bytes; raises `StateError` for anything else."""
    try:
        with np.load(BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        rest = orjson.loads(arrays.pop("rest").tobytes())
        if rest["version"] != VERSION:
            raise StateError(f"state of version {rest['version']}, this is {VERSION}")
        return _watch(arrays, rest, catalogue or Catalogue.default())
    except StateError:
        raise
    except _BROKEN as error:
        raise StateError(f"no detector state: {error}") from error


def _watch(
    arrays: Mapping[str, npt.NDArray[Any]], rest: Mapping[str, Any], catalogue: Catalogue
) -> Watch:
    metrics = tuple(rest["metrics"])
    blends = [
        Blend(row["name"], np.array(row["rows"], np.intp), np.array(row["weights"], np.float32))
        for row in rest["blends"]
    ]
    definitions = tuple(blended(blends, [catalogue.definition(name) for name in metrics]))
    bounds = tuple((int(low), int(high)) for low, high in rest["bounds"])
    panel = Panel(
        metrics=metrics,
        hosts=tuple(rest["hosts"]),
        devices=tuple(rest["devices"]),
        definitions=definitions,
        peers=Peers(order=arrays["order"], bounds=bounds, host=arrays["host"]),
        writer=int(rest["writer"]),
    )
    scaling: Scaling = scaling_of(arrays["unit"], definitions, blends)
    parts: dict[str, Any] = {
        part: kind(**_fields(arrays, part)) if _fields(arrays, part) else None
        for part, kind in _PARTS.items()
    }
    numbers: dict[str, Any] = {
        name: -math.inf if value is None else value for name, value in rest["numbers"].items()
    }
    return Watch(
        panel=panel,
        scaling=scaling,
        offset=arrays["offset"],
        age=arrays["age"],
        every=arrays["every"],
        alarms=_alarms(rest["alarms"]),
        near=_alarms(rest["near"]),
        fleet_wide=[
            FleetShift(**{**shift, "hosts": tuple(shift["hosts"])}) for shift in rest["fleet_wide"]
        ],
        **parts,
        **numbers,
    )


def _fields(arrays: Mapping[str, npt.NDArray[Any]], part: str) -> dict[str, npt.NDArray[Any]]:
    start = f"{part}."
    return {
        name.removeprefix(start): value for name, value in arrays.items() if name.startswith(start)
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _alarm_row(host: int, alarm: Alarm) -> dict[str, Any]:
    shifts = [[row, entity, *values] for (row, entity), values in alarm.shifts.items()]
    return {"host": host, **asdict(alarm), "shifts": shifts}


def _alarms(rows: Iterable[Mapping[str, Any]]) -> dict[int, Alarm]:
    found = {}
    for row in rows:
        values = {name: value for name, value in row.items() if name != "host"}
        shifts = {(int(r), int(e)): (d, v, u, p) for r, e, d, v, u, p in row["shifts"]}
        found[int(row["host"])] = Alarm(**{**values, "shifts": shifts})
    return found
