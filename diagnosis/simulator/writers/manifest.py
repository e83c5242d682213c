"""`placement.json`, `topology.json` and `truth/truth.json`, in the shapes of docs/contract.md."""

from dataclasses import asdict

import orjson

from diagnosis.core.placement import Placement
from diagnosis.simulator.truth import Truth


def placement_json(placement: Placement) -> bytes:
    """One object per rank, without the fields that do not apply."""
    rows = [
        {name: value for name, value in asdict(place).items() if value is not None}
        for place in placement.places
    ]
    return orjson.dumps(rows)


def topology_json(topology: dict[str, object]) -> bytes:
    return orjson.dumps(topology)


def truth_json(truth: Truth) -> bytes:
    return orjson.dumps(truth.to_dict(), option=orjson.OPT_INDENT_2)
