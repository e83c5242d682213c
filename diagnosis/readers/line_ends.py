"""Where the lines of a text as it was read begin and end.

A line ends at a line feed, at a carriage return (each step of a progress bar is a line of its own),
or at the two together, as Windows writes them.
"""

import numpy as np


def line_start(text: bytes, position: int) -> int:
    """Where the line begins that holds the byte at `position`; its break belongs to it."""
    if text[position - 1 : position + 1] == b"\r\n":
        position -= 1
    start = text.rfind(b"\n", 0, position) + 1
    return text.rfind(b"\r", start, position) + 1 or start


def line_end(text: bytes, start: int, high: int | None = None) -> int:
    """Where the line that begins at `start` ends, before its break; at `high` at the latest."""
    end = text.find(b"\n", start, high)
    if end < 0:
        end = len(text) if high is None else min(high, len(text))
    back = text.find(b"\r", start, end)
    return end if back < 0 else back


def after_break(text: bytes, end: int) -> int:
    """Where the line after the one that ends at `end` begins."""
    return end + 2 if text[end : end + 2] == b"\r\n" else end + 1


def line_starts(text: bytes) -> "np.ndarray":
    """Where each line of `text` begins, ascending."""
    codes = np.frombuffer(text, np.uint8)
    ends = codes == ord("\n")
    if b"\r" in text:
        returns = codes == ord("\r")
        returns[:-1] &= ~ends[1:]
        ends |= returns
    starts = np.concatenate(([0], np.flatnonzero(ends) + 1))
    return starts[:-1] if starts[-1] == len(text) else starts


def feed_starts(text: bytes) -> "np.ndarray":
    """Where the text begins, and what follows each of its line feeds."""
    return np.concatenate(([0], np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1))


def breaks_between(text: bytes, low: int, high: int) -> int:
    """How many lines end between two bytes."""
    feeds, returns = text.count(b"\n", low, high), text.count(b"\r", low, high)
    return feeds + returns - text.count(b"\r\n", low, high) if returns else feeds
