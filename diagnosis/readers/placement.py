"""Reader of `placement.json`: a list of ranks with their hosts (docs/contract.md)."""

from collections import Counter
from collections.abc import Mapping
from typing import cast

import orjson

from diagnosis.core.placement import Placement, RankPlace
from diagnosis.readers.errors import UnreadableEvidence

_WHOLE = ("local_rank", "stage", "dp", "tp", "ep")
_TEXT = ("gpu_uuid", "nic")


def read_placement(content: bytes) -> Placement:
    """The placement in a JSON list of `{"rank", "host", "local_rank"?, "gpu"?, …}`.

    Raises `UnreadableEvidence` naming the row that is wrong; a rank may stand in one row only.
    """
    try:
        rows = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        readable = "it is not text" if b"\0" in content else str(error)
        raise UnreadableEvidence(f"placement is not JSON: {readable}") from error
    if not isinstance(rows, list):
        raise UnreadableEvidence("placement must be a JSON list of ranks")
    places = [_place(number, row) for number, row in enumerate(rows)]
    twice = [rank for rank, rows in Counter(place.rank for place in places).items() if rows > 1]
    if twice:
        raise UnreadableEvidence(f"placement names rank {twice[0]} twice")
    return Placement.of(places)


def _place(number: int, row: object) -> RankPlace:
    if not isinstance(row, Mapping):
        raise UnreadableEvidence(f"placement row {number} is not an object")
    rank, host = row.get("rank"), row.get("host")
    if not _is_whole(rank):
        raise UnreadableEvidence(f"placement row {number}: 'rank' must be a whole number from 0")
    if not isinstance(host, str) or not host.strip():
        raise UnreadableEvidence(f"placement row {number}: 'host' must be a name")
    for name in _WHOLE:
        if row.get(name) is not None and not _is_whole(row[name]):
            raise UnreadableEvidence(f"placement row {number}: '{name}' must be a whole number")
    for name in _TEXT:
        if row.get(name) is not None and not isinstance(row[name], str):
            raise UnreadableEvidence(f"placement row {number}: '{name}' must be text")
    if not isinstance(row.get("gpu"), int | str | None):
        raise UnreadableEvidence(f"placement row {number}: 'gpu' must be an index or an id")
    optional = {name: row.get(name) for name in (*_WHOLE, *_TEXT)}
    return RankPlace(rank=cast("int", rank), host=host, gpu=row.get("gpu"), **optional)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
