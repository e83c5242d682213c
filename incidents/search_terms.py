"""Texts and queries as the words that the search compares: lower case, by prefix."""

import re
from collections.abc import Iterable, Sequence

from incidents.hostnames import normalise_host

#: A longer word is cut: nobody types more.
LONGEST = 80
#: Words that are kept of one text, and inner borders that are kept of one word.
_WORDS, _BORDERS = 1500, 8
_WORD = re.compile(r"[^\s,;:()\[\]{}<>\"'`|=!?*#]+")
_BORDER = re.compile(r"[^0-9a-z]+|(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])")
_EDGES = "._-/\\"


def terms_of(texts: Iterable[str]) -> Sequence[str]:
    """Each word from each border in it to its end: `node-017` gives `node-017` and `017`.

    So a prefix finds what a person remembers of a name: its beginning, or a later part.
    """
    found: dict[str, None] = {}
    for text in texts:
        for word in _words(text)[:_WORDS]:
            starts = [0, *(border.end() for border in _BORDER.finditer(word))][: _BORDERS + 1]
            found |= {term: None for at in starts if len(term := word[at : at + LONGEST]) > 1}
    return list(found)


def wanted_terms(query: str) -> Sequence[frozenset[str]]:
    """What a query asks for: every word of it, each in one of these spellings."""
    return [
        frozenset({word[:LONGEST], normalise_host(word)[:LONGEST]} - {""})
        for word in _words(query)[:8]
    ]


def _words(text: str) -> list[str]:
    words = (word.strip(_EDGES) for word in _WORD.findall(text.lower()))
    return [word for word in words if word]
