"""Dataclasses of arrays and plain values as bytes, and back: for state that outlives a process.

No pickle: arrays travel as NPZ without objects, the rest as JSON; what is read back is built from
the declared types alone.
"""

import io
import math
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import orjson
import zstandard

T = TypeVar("T")

#: Larger states are refused: nothing that the watch keeps comes near it.
LONGEST = 256 * 1024**2
_HEAD = "head"


class UnusableState(ValueError):  # noqa: N818 - it names the state of the bytes
    """Bytes that are no state of this type, or one of an earlier version."""


def pack(value: object) -> bytes:
    """A dataclass as compressed bytes. Raises `TypeError` for a part that cannot be kept."""
    arrays: dict[str, np.ndarray] = {}
    head = orjson.dumps(_plain(value, arrays))
    file = io.BytesIO()
    np.savez(file, **{_HEAD: np.frombuffer(head, np.uint8)}, **arrays)  # type: ignore[arg-type]
    return zstandard.ZstdCompressor(level=1).compress(file.getvalue())


def unpack(kind: type[T], content: bytes) -> T:
    """The dataclass of this kind that `pack` made. Raises `UnusableState`."""
    try:
        plain = zstandard.ZstdDecompressor().decompress(content, max_output_size=LONGEST)
        with np.load(io.BytesIO(plain), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        head = orjson.loads(arrays.pop(_HEAD).tobytes())
        built: T = _built(kind, head, arrays)
    except (zstandard.ZstdError, ValueError, KeyError, TypeError, IndexError, OSError) as error:
        raise UnusableState(f"no {kind.__name__} of this version: {error}") from error
    return built


def _plain(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return name
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name), arrays) for item in fields(value)}
    if isinstance(value, Mapping):
        return [[_plain(key, arrays), _plain(item, arrays)] for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(item, arrays) for item in value]
    return _plain_scalar(value)


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, Enum):
        value = value.value
    elif isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{type(value).__name__} cannot be kept")


def _built(kind: Any, value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    origin = get_origin(kind) or kind
    if origin in {Union, types.UnionType}:
        arms = [arm for arm in get_args(kind) if arm is not type(None)]
        return None if value is None else _built(arms[0], value, arrays)
    built = value
    if origin is np.ndarray:
        built = arrays[value]
    elif is_dataclass(origin):
        built = _built_dataclass(origin, value, arrays)
    elif origin in {tuple, list}:
        built = _built_sequence(kind, value, arrays)
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        of_key, of_item = get_args(kind)
        built = {_built(of_key, k, arrays): _built(of_item, v, arrays) for k, v in value}
    elif isinstance(origin, type) and issubclass(origin, Enum | float):
        built = origin(value)
    return built


def _built_dataclass(kind: Any, value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    hints = _hints(kind)
    if value.keys() != hints.keys():
        raise ValueError(f"{kind.__name__} has other fields now")
    return kind(**{name: _built(hints[name], item, arrays) for name, item in value.items()})


def _built_sequence(kind: Any, value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    arms = get_args(kind)
    if get_origin(kind) is list or arms[-1] is Ellipsis:
        built = [_built(arms[0], item, arrays) for item in value]
        return built if get_origin(kind) is list else tuple(built)
    return tuple(_built(arm, item, arrays) for arm, item in zip(arms, value, strict=True))


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {item.name: hints[item.name] for item in fields(kind)}
