"""Forms of prefixes: lines that differ in digits alone are prefixed alike, and parsed but once.

A log has some dozen forms of prefixes and millions of lines. Once a line was parsed, where its
message begins and where host and rank stand is known for every line of its form.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from operator import attrgetter

from diagnosis.readers.logs_heads import next_prefix, peeled
from diagnosis.readers.logs_lines import Line
from diagnosis.readers.logs_prefixes import Draft

#: Longer prefixes are parsed each time (bytes).
LONGEST = 120

#: Forms, lengths of forms, and beginnings of messages that are kept for one log.
MAX_FORMS = 2000
MAX_LENGTHS = 48
MAX_BEGINNINGS = 4096

#: So much of a message tells whether it begins with one more prefix (bytes).
BEGINNING = 64

_ZERO = ord("0")
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)

Span = tuple[int, int]


@dataclass(slots=True, eq=False)
class Form:
    """A prefix of `end` bytes.

    `family` is equal for forms that differ only in how many digits a number has. `host` and `rank`
    are where the line names them; None where it does not. `draft` is what parsing had told when it
    came to the end of the prefix.
    """

    end: int
    family: int
    host: Span | None
    rank: Span | None
    draft: Draft
    has_stamp: bool
    _trial: Draft | None = None

    def ends_at(self, text: str) -> bool:
        """Does the prefix of this line really end where the form says, before the message?"""
        if self._trial is None:
            self._trial = copy(self.draft)
        if next_prefix(text, self.end, self._trial) is None:
            return True
        self._trial = None
        return False


class Forms:
    """The forms of one log's lines."""

    def __init__(self) -> None:
        self._known: dict[bytes, Form | None] = {}
        self._families: dict[bytes, int] = {}
        self._lengths: list[int] = []
        self._begun: dict[tuple[int, bytes], bool] = {}

    def like(self, raw: bytes) -> Iterator[Form]:
        """Forms that this line begins like."""
        shape = raw[:LONGEST].translate(_DIGITS)
        known = self._known
        for end in self._lengths:
            form = known.get(shape[:end])
            if form is not None:
                yield form

    def ending_at(self, raw: bytes, end: int) -> Form | None:
        """The form of `end` bytes that this line begins like."""
        return self._known.get(raw[:end].translate(_DIGITS)) if end <= LONGEST else None

    def of(self, raw: bytes) -> Form | None:
        """The form of a plain line (see `is_plain`); None where none is known."""
        forms = sorted(self.like(raw), key=attrgetter("end"), reverse=True)
        return next((form for form in forms if self._ends(form, raw)), None)

    def _ends(self, form: Form, raw: bytes) -> bool:
        """`Form.ends_at`, remembered for messages that begin alike."""
        begun = (form.family, raw[form.end : form.end + BEGINNING].translate(_DIGITS))
        ends = self._begun.get(begun)
        if ends is None:
            if len(self._begun) >= MAX_BEGINNINGS:
                self._begun.clear()
            ends = self._begun[begun] = form.ends_at(raw.decode("ascii"))
        return ends

    def learn(self, raw: bytes, line: Line) -> None:
        """Remember the form of a line that was parsed, where a form can tell its head."""
        end = line.head.end
        shape = raw[:end].translate(_DIGITS)
        full = end not in self._lengths and len(self._lengths) >= MAX_LENGTHS
        if shape in self._known or end > LONGEST or full or len(self._known) >= MAX_FORMS:
            return
        if line.data != raw or not shape.isascii():
            return
        draft = Draft()
        peeled(line.text, draft)
        form = self._form(shape, draft)
        self._known[shape] = form
        if form is not None and end not in self._lengths:
            self._lengths.append(end)

    def _form(self, shape: bytes, draft: Draft) -> Form | None:
        if draft.varies or (draft.group_rank is not None and draft.rank is None):
            return None
        runs = zip(shape, b" " + shape, strict=False)
        numberless = bytes(one for one, before in runs if one != _ZERO or before != _ZERO)
        family = self._families.setdefault(numberless, len(self._families))
        host = draft.host_at or draft.outer_at
        return Form(
            len(shape), family, host, draft.rank_at or draft.task_at, draft, draft.stamp is not None
        )
