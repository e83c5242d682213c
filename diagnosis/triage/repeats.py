"""Repeats: lines of a flood are counted without looking closer, in bounded memory.

What a line says is the text after its prefixes. The same words in another line of the same family
of prefixes mean the same, whichever host and rank speak and whenever.
"""

from dataclasses import dataclass
from typing import TypeAlias

from diagnosis.core.target import normalise_host
from diagnosis.readers.logs import is_plain
from diagnosis.readers.logs_forms import Form, Forms
from diagnosis.readers.logs_heads import Head
from diagnosis.taxonomy.matcher import Match, Matcher
from diagnosis.taxonomy.signature import Stream
from diagnosis.triage.mentions import host_in
from diagnosis.triage.places import Place, address_of, gpu_name, nic_of
from diagnosis.triage.sheet_states import is_of_a_sheet

#: Different words that are remembered for one log at a time, and how long they may be (bytes).
MAX_REMEMBERED = 20_000
MAX_WORDS = 2000

#: Lines that end alike in so many bytes most often hold the same words.
ENDING = 24


@dataclass(slots=True)
class Tally:
    """How often a clue's line was seen; `last` is the last one, or its head."""

    count: int = 1
    last: bytes | Head | None = None


#: Host (normalised) and rank.
Speaker: TypeAlias = tuple[str | None, int | None]

Tallies: TypeAlias = dict[Speaker, Tally]


class Saying:
    """What a line's words say: their best match (None: nothing), and where they put it.

    Where the match names no host or no rank, the line's own counts, then the host that the words
    mention. `tallies` are those of all lines
    that say the same, where the words alone tell which; `is_closed`: there is no room for more.
    """

    __slots__ = (
        "_elsewhere",
        "is_closed",
        "match",
        "mention",
        "place",
        "takes_host",
        "takes_rank",
        "tallies",
    )

    def __init__(self, match: Match | None, mention: str | None = None) -> None:
        self.match = match
        self.mention = mention
        self.place = Place()
        self.takes_host = self.takes_rank = False
        if match is not None:
            self._locate(match)
        self._elsewhere = self.place.key[2:]
        self.tallies: Tallies | None = None
        self.is_closed = False

    def _locate(self, match: Match) -> None:
        parts = match.parts
        host, peer, rank = parts.get("host"), parts.get("peer"), parts.get("rank", "")
        self.takes_host = not host and match.signature.stream is not Stream.SCHEDULER
        self.takes_rank = not rank.isdigit()
        self.place = Place(
            host=host or None,
            rank=None if self.takes_rank else int(rank),
            gpu=gpu_name(parts.get("pci") or parts.get("gpu")),
            nic=nic_of(parts.get("dev")),
            link=parts.get("link"),
            peer=address_of(peer) if peer else None,
        )

    def speaker(self, host: str | None, rank: int | None) -> Speaker:
        """Whose the event is; `host` (normalised) and `rank`: whose line it is."""
        named, numbered = self.place.host, self.place.rank
        if self.takes_host:
            named = host or self.mention
        return (
            named and normalise_host(named),
            rank if self.takes_rank else numbered,
        )

    def what(self, said: object, ignored_by: frozenset[int]) -> tuple[object, ...]:
        """Equal for lines that say the same of the same part, whosever they are.

        Signature, part and ignore rules come first, then what tells variants apart.
        """
        if self.match is None:
            return ()
        parts = self.match.parts
        code = self.match.signature.code
        return (code, self._elsewhere, ignored_by, parts.get("detail"), parts.get("sig"), said)


#: Words that no signature matches, and words that mean nothing sure without what stands before.
NOTHING, UNSURE = Saying(None), Saying(None)


class Sayings:
    """The words that were judged in one log, and the forms of what stands before them."""

    def __init__(self, matcher: Matcher) -> None:
        self.forms = Forms()
        self._matcher = matcher
        self._known: dict[tuple[int, tuple[int, ...], bytes], Saying] = {}
        self._alike: dict[tuple[object, ...], Saying] = {}
        self._lengths: dict[bytes, int] = {}

    def of(self, raw: bytes, possible: tuple[int, ...]) -> tuple[Form, Saying] | None:
        """What the line says by its words; None where it must be looked at as a whole.

        `possible`: all patterns that may match it, as `Matcher.hits` told.
        """
        known, ending = self._known, raw[-ENDING:]
        length = self._lengths.get(ending)
        if length is not None:
            form = self.forms.ending_at(raw, len(raw) - length)
            if form is not None:
                saying = known.get((form.family, possible, raw[form.end :]))
                if saying is not None:
                    return (form, saying) if saying is not UNSURE else None
        for form in self.forms.like(raw):
            saying = known.get((form.family, possible, raw[form.end :]))
            if saying is not None:
                self._note_length(ending, len(raw) - form.end)
                return (form, saying) if saying is not UNSURE else None
        return self._new(raw, possible) if is_plain(raw) else None

    def _note_length(self, ending: bytes, length: int) -> None:
        if len(self._lengths) >= MAX_REMEMBERED:
            self._lengths.clear()
        self._lengths[ending] = length

    def _new(self, raw: bytes, possible: tuple[int, ...]) -> tuple[Form, Saying] | None:
        form = self.forms.of(raw)
        if form is None:
            return None
        words = raw[form.end :]
        saying = self._judged(raw, words, possible)
        if len(words) <= MAX_WORDS:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
            self._known[form.family, possible, words] = saying
        return (form, saying) if saying is not UNSURE else None

    def _judged(self, raw: bytes, words: bytes, possible: tuple[int, ...]) -> Saying:
        match = self._matcher.best(raw, words, possible)
        if match is None:
            return NOTHING
        if is_of_a_sheet(match) or not self._matcher.matches_so(words, match):
            return UNSURE
        mention = host_in(words, match.signature)
        return Saying(match, mention) if words == raw else self._shared(match, mention)

    def _shared(self, match: Match, mention: str | None) -> Saying:
        """One saying for all prefixed words that say the same of the same part."""
        key = (match.signature.code, mention, *match.parts.items())
        saying = self._alike.get(key)
        if saying is None:
            if len(self._alike) >= MAX_REMEMBERED:
                self._alike.clear()
            saying = self._alike[key] = Saying(match, mention)
        return saying
