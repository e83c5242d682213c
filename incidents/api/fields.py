"""Sparse answers: `fields=id,status,job.name` shows of each record only what is asked for."""

from collections.abc import Mapping
from typing import Any

from rest_framework.request import Request

from incidents.api.problems import InvalidQuery

PARAMETER = "fields"
_MOST = 50

#: name → what is wanted of it; nothing wanted of it means all.
Wanted = dict[str, Any]


def wanted_fields(request: Request) -> Wanted:
    """The fields that the query asks for; empty for all of them. Raises `InvalidQuery`."""
    text = request.query_params.get(PARAMETER, "")
    paths = [path.strip() for path in text.split(",") if path.strip()]
    if len(paths) > _MOST:
        raise InvalidQuery({PARAMETER: [f"At most {_MOST} fields."]})
    wanted: Wanted = {}
    for path in paths:
        place = wanted
        for name in path.split("."):
            place = place.setdefault(name, {})
    return wanted


def picked(data: Any, wanted: Wanted) -> Any:
    """The data with only what is wanted; of each record where it is a list or a page."""
    if isinstance(data, list):
        return [picked(one, wanted) for one in data]
    if not isinstance(data, Mapping) or not wanted:
        return data
    if isinstance(data.get("results"), list):
        return {**data, "results": picked(data["results"], wanted)}
    return {name: picked(data[name], inner) for name, inner in wanted.items() if name in data}
