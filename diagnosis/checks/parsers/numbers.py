"""Numbers with units, as tools print them."""

import math
import re

from diagnosis.checks.output import Unreadable, Value

_NUMBER = re.compile(
    r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?:\s+[A-Za-z%°µ/]\S{0,11}|%)?\s*"
)


def number(text: str) -> float:
    """The number at the head of `text`. Raises `Unreadable`; NaN and infinity are no results."""
    found = _NUMBER.fullmatch(text)
    if found is None or not math.isfinite(float(found[1])):
        raise Unreadable(f"'{text.strip()[:40]}' is not a number")
    return float(found[1])


def printed(name: str, text: str, device: str = "") -> Value:
    """What a tool printed: a number where the text is one, with or without a unit."""
    raw = text.strip()
    try:
        return Value(name, number(text), device, raw)
    except Unreadable:
        return Value(name, raw, device, raw)
