"""Line feeds of a text, counted on from the place that was asked for last."""

import numpy as np

#: Line feeds of so few bytes are counted without arrays, which are quicker only for more.
NEAR_BYTES = 1 << 11


class Feeds:
    """How many line feeds stand before the bytes of a text; asked for near places in turn."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._counted = self._feeds = 0

    def before(self, position: int) -> int:
        """How many line feeds stand before this byte."""
        counted = self._counted
        if position > counted:
            self._feeds += _between(self.data, counted, position)
        elif position < counted:
            self._feeds -= _between(self.data, position, counted)
        self._counted = position
        return self._feeds

    @property
    def all(self) -> int:
        return self.before(len(self.data))


def _between(data: bytes, low: int, high: int) -> int:
    if high - low < NEAR_BYTES:
        return data.count(b"\n", low, high)
    return int(np.count_nonzero(np.frombuffer(data, np.uint8, high - low, low) == 10))
