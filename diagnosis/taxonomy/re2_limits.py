"""What RE2 lacks, in the words of the person who typed it, and what to write instead.

RE2 answers in linear time, whatever the pattern, because it has none of these
(https://github.com/google/re2/wiki/Syntax).
"""

import re

_INSTEAD = {
    r"\(\?=": (
        "RE2 has no look-ahead ('(?=…)'). Write the words themselves: 'error(?= 5)' as 'error 5'; "
        "nothing is taken out of a match but its named groups."
    ),
    r"\(\?!": (
        "RE2 has no negative look-ahead ('(?!…)'). Write what may stand there, 'Xid 7(?!9)' as "
        "'Xid 7(?:[^9]|$)', or give the lines to leave out a signature of higher priority."
    ),
    r"\(\?<=": (
        "RE2 has no look-behind ('(?<=…)'). Match the words before as well and name the part that "
        "counts: '(?<=rank )\\d+' as 'rank (?P<rank>\\d+)'."
    ),
    r"\(\?<!": (
        "RE2 has no negative look-behind ('(?<!…)'). Write what may stand before, '(?<!b)ad' as "
        "'(?:^|[^b])ad', or give the lines to leave out a signature of higher priority."
    ),
    r"\(\?>": (
        "RE2 has no atomic groups ('(?>…)') and needs none: it never goes back. Write '(?:…)'."
    ),
    r"\(\?P=|\\[1-9]|\\k<": (
        "RE2 has no back references ('(?P=name)', '\\1'): it cannot ask for the same text twice. "
        "Write the pattern of both places, or list the cases: 'a.*a|b.*b'."
    ),
    r"[*+?}]\+": (
        "RE2 has no possessive repeats ('a++') and needs none: it never goes back. Write 'a+'."
    ),
    r"\(\?\(": "RE2 has no conditions ('(?(1)…)'). Write both cases: 'one|other'.",
    r"\\K": "RE2 has no '\\K'. Name the part that counts: 'rank (?P<rank>\\d+)'.",
}
_LACKED = tuple((re.compile(construct), words) for construct, words in _INSTEAD.items())


def instead_of(pattern: str) -> str | None:
    """What to write instead of the first such construct in a pattern that RE2 refused."""
    found = ((construct.search(pattern), words) for construct, words in _LACKED)
    placed = [(match.start(), words) for match, words in found if match]
    return min(placed)[1] if placed else None
