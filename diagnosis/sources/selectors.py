"""PromQL matchers that select the series of given hosts, whatever their spelling."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from diagnosis.core.target import normalise_host

#: Longer names are no host names (RFC 1035, 2.3.4) and are never asked for.
LONGEST_HOST = 253
_REGEX_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")
_STRING_SPECIAL = re.compile(r'[\\"\x00-\x1f\x7f]')
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class HostGroup:
    """Hosts that one query asks for: their normalised names, and the regex of their labels."""

    hosts: tuple[str, ...]
    regex: str


def host_groups(
    hosts: Iterable[str], *, longest: int = 8_000, most: int = 256
) -> tuple[HostGroup, ...]:
    """Hosts in groups of at most `most` whose regex stays within `longest` characters.

    The regex accepts any case, domain and port, as `normalise_host` does. Names that cannot be
    host names (empty, longer than 253) are left out.
    """
    groups: list[HostGroup] = []
    batch: list[str] = []
    length = 0
    names = dict.fromkeys(normalise_host(host) for host in hosts)
    for name in (name for name in names if 0 < len(name) <= LONGEST_HOST):
        cost = len(quote_string(quote_regex(name))) + 1
        if batch and (length + cost > longest or len(batch) == most):
            groups.append(_group(batch))
            batch, length = [], 0
        batch.append(name)
        length += cost
    return (*groups, _group(batch)) if batch else tuple(groups)


def matcher(label: str, regex: str) -> str:
    """`label=~"regex"`. Raises `ValueError` for a label that PromQL does not take."""
    if not _LABEL.fullmatch(label):
        raise ValueError(f"{label!r} is no label name")
    return f'{label}=~"{quote_string(regex)}"'


def quote_regex(text: str) -> str:
    """Text as an RE2 expression that matches it alone."""
    return _REGEX_SPECIAL.sub(r"\\\g<0>", text)


def quote_string(text: str) -> str:
    """Text for the inside of a double-quoted PromQL string (Go's escapes)."""
    valid = text.encode("utf-8", "replace").decode("utf-8")
    return _STRING_SPECIAL.sub(lambda found: _escape(found[0]), valid)


def _escape(character: str) -> str:
    return f"\\{character}" if character in '\\"' else f"\\x{ord(character):02x}"


def _group(names: list[str]) -> HostGroup:
    either = "|".join(map(quote_regex, names))
    return HostGroup(tuple(names), rf"\[?(?i:{either})\]?(?:\.[^:]*)?(?::[0-9]+)?")
