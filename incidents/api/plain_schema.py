"""What drf-spectacular writes and nobody can fulfil, mended in the finished document."""

from typing import Any

_NULL = {"type": "null"}


def null_said_once(
    result: dict[str, Any], generator: object, request: object, public: bool
) -> dict[str, Any]:
    """Any JSON or null is any JSON: null may not be valid under two parts of a `oneOf`."""
    _mend(result)
    return result


def _mend(part: Any) -> None:
    if isinstance(part, list):
        for one in part:
            _mend(one)
    if not isinstance(part, dict):
        return
    if {} in (choices := part.get("oneOf") or []) and _NULL in choices:
        del part["oneOf"]
    for one in part.values():
        _mend(one)
