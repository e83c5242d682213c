"""One line of a log as text, with its prefixes parsed."""

import re
from dataclasses import dataclass

from diagnosis.readers.logs_heads import Head, parse_head

#: Colour codes whose escape character was lost on the way (`[36m(raylet)[0m`).
_BARE_COLOUR_CORE = re.compile(r"\[\d{1,3}(?:;\d{1,3})*m")
_BARE_COLOUR_BYTES = re.compile(_BARE_COLOUR_CORE.pattern.encode())
_BARE_COLOUR = re.compile(r"\^?\[\d{1,3}(?:;\d{1,3})*m")


@dataclass(frozen=True, slots=True)
class Line:
    """One line as text, and what stands before its message; `data` is the text in UTF-8."""

    text: str
    head: Head
    data: bytes

    @property
    def message(self) -> str:
        return self.text[self.head.end :]

    @property
    def message_data(self) -> bytes:
        """The message in UTF-8."""
        if len(self.data) == len(self.text):
            return self.data[self.head.end :]
        return self.message.encode()


def is_plain(raw: bytes) -> bool:
    """Is a line's text just its bytes, read as ASCII, with no remains of colour codes?"""
    return raw.isascii() and _BARE_COLOUR_BYTES.search(raw) is None


def parsed_line(raw: bytes) -> Line:
    """A line's bytes as text with its prefixes parsed."""
    text = _as_text(raw)
    if _BARE_COLOUR_CORE.search(text):
        text = _BARE_COLOUR.sub("", text)
    data = raw if text.isascii() and len(text) == len(raw) else text.encode()
    return Line(text, parse_head(text), data)


def _as_text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
