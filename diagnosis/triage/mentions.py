"""The host that a line names in its words, where nothing before the words names one."""

import re

from diagnosis.taxonomy.signature import Signature, Stream

#: So much of a line is looked through (characters).
_LOOKED_AT = 400
#: Machines tell of themselves there; what a job says may name its peer.
_OF_A_MACHINE = {Stream.KERNEL, Stream.SYSTEM, Stream.BMC}

_NAME = r"[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)*"
_KINDS = ("node", "host", "dgx", "hgx", "compute", "nid", "server", "srv", "blade", "machine")
#: Names that are no thread, rank or device: `gpu-node-12`, `dgx07`, `ip-10-0-0-3`.
_MACHINE = (
    rf"(?:(?:[A-Za-z0-9]+-)*[a-z]*(?:{'|'.join(_KINDS)})s?"
    r"-?[a-z]?\d[\w-]*|ip(?:-\d{1,3}){4})(?:\.[A-Za-z][\w-]*)*"
)
#: One of these stands in every line that names a host; most lines of a flood hold none.
_IN_EVERY_MENTION = (*_KINDS, "ip-")
_FIELD = re.compile(
    r"""(?:^|[\s,;{(\["'])(?:_?host|_?host_?name|node|node_?name)["']?\s?[=:]\s?["']?"""
    rf"""({_NAME})(?=["'\s,;)}}\]]|$)""",
    re.IGNORECASE,
)
_MARKED = re.compile(
    rf"(?:^|[\s|,;(\[<])({_MACHINE})(?=\s?[|,;:)\]>])|\b(?:on|from|host|node) ({_MACHINE})\b",
    re.IGNORECASE,
)
_FIRST = re.compile(rf"^(?:[A-Z]+[:|\s]\s*)?[\[(|]\s?({_MACHINE})\s?[|)\]]", re.IGNORECASE)


def host_in(words: bytes, signature: Signature) -> str | None:
    """The one host that the words of a line name as their speaker, as spelt; None for none or two.

    A machine's own line may name it in a field (`host=…`), between marks or after `on`; a job's
    line only right at its start.
    """
    text = words[:_LOOKED_AT].decode("utf-8", "replace")
    lower = text.lower()
    if not any(part in lower for part in _IN_EVERY_MENTION):
        return None
    if signature.stream not in _OF_A_MACHINE:
        first = _FIRST.match(text)
        return first[1] if first else None
    named = {name for name in _FIELD.findall(text) if re.search(r"\d", name)}
    named = named or {one or other for one, other in _MARKED.findall(text)}
    return named.pop() if len(named) == 1 else None
