"""Headings that say whose the lines below are, where one file holds the output of several hosts.

Tools that gather output write them in a grammar of their own: `dshbak`, `clush -b`, `ansible`, and
`tail` and `head` of several files. A heading of someone's own loop (`== node-004 ==`) counts only
where the placement knows its host: training logs are full of lines that look like one.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from diagnosis.core.target import normalise_host
from diagnosis.readers.hostlist import expanded
from diagnosis.readers.logs_prefixes import looks_like_host
from diagnosis.readers.origin import Origin, origin_from_name

#: Lines that may be, or end, a heading.
HEADING_PATTERNS = (
    r"^-{15,16}$",
    r" \| (?:CHANGED|SUCCESS|FAILED) \| rc=-?\d+ >>$",
    r"^==> [^<>]{1,300} <==$",
    r"^(?:== |=== |==== |## |### |#### |\*\*\* |--- |>>> )[\w.-]{1,80}\d[\w.-]*(?: [=#*<-]+)?:?$",
)

#: Lines at a log's start among which the first heading of a gathered output stands.
FIRST_LINES = 4

_ANSIBLE = re.compile(r"([\w.-]+) \| (?:CHANGED|SUCCESS|FAILED) \| rc=-?\d+ >>")
_FILE = re.compile(r"==> (.+) <==")
_LOOP = re.compile(r"[=#*>-]{2,} ([\w.-]+?):?(?: [=#*<-]{2,})?:?")
#: The rules of dshbak (16) and of clush (15); clush counts the hosts of a list.
_RULES = ("-" * 15, "-" * 16)
_GATHERED = re.compile(r"([\w.,\[\]-]+)(?: \((\d+)\))?")

#: What programs count in headings of their own.
_COUNTED = re.compile(
    r"(?:layer|stage|phase|fold|block|model|run|trial|table|part|section|test|round|version|v)"
    r"[-_.]?[\d.]+[a-z]?",
    re.IGNORECASE,
)

#: Whose the lines below a heading are; several for equal output of several hosts.
Whose = tuple[Origin, ...]


class Headings:
    """The headings of one log, asked for in order."""

    def __init__(self, known: Collection[str] = ()) -> None:
        """`known`: the job's hosts, as the placement names them."""
        self._known = {normalise_host(host) for host in known}
        self._gathered = False

    def whose(self, line: str, before: Sequence[str], number: int) -> Whose:
        """Whose the lines below `line` are, where a heading ends in it; empty where none does.

        `before`: the two lines above it; `number`: of the line in its file, from 1.
        """
        if line in _RULES:
            return self._below_rule(line, before, number)
        if found := _ANSIBLE.fullmatch(line):
            return self._of(found[1]) if self._is_host(found[1]) else ()
        if found := _FILE.fullmatch(line):
            return (self._of_file(found[1]),)
        found = _LOOP.fullmatch(line)
        if found and normalise_host(found[1]) in self._known:
            return self._of(found[1])
        return ()

    def _below_rule(self, rule: str, before: Sequence[str], number: int) -> Whose:
        """A name between two rules. Unknown hosts are taken where the file begins with them."""
        if len(before) < 2 or before[0] != rule:
            return ()
        found = _GATHERED.fullmatch(before[1])
        hosts = expanded(found[1]) if found else ()
        if not hosts or (found and found[2] and int(found[2]) != len(hosts)):
            return ()
        known = all(normalise_host(host) in self._known for host in hosts)
        begins = self._gathered or number <= FIRST_LINES
        if not known and not (begins and all(map(self._is_host, hosts))):
            return ()
        self._gathered = True
        return tuple(Origin(host=host) for host in hosts)

    def _of_file(self, path: str) -> Origin:
        """What a file's path tells, or the folder of a known host that it lies in."""
        named = origin_from_name(path)
        folders = path.split("/")[:-1]
        host = next((one for one in folders if normalise_host(one) in self._known), None)
        return replace(named, host=named.host or host)

    def _is_host(self, name: str) -> bool:
        if normalise_host(name) in self._known:
            return True
        return looks_like_host(name) and not _COUNTED.fullmatch(name)

    def _of(self, host: str) -> Whose:
        return (Origin(host=host),)
