"""Changes of rules as people read them."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

import yaml
from django import template

from diagnosis.taxonomy.changes import FieldChange

register = template.Library()

#: Texts longer than this are not compared piece by piece.
_MAX_LENGTH = 4000
#: Words are compared whole, everything else character by character.
_WORDS = re.compile(r"\w+|\W")


@register.filter
def shown_value(value: object) -> str:
    """A field's value as text: lists one a line, mappings as YAML, nothing as a dash."""
    if value in (None, "", []):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "\n".join(str(one) for one in value)
    if isinstance(value, dict):
        return yaml.safe_dump(value, sort_keys=False, allow_unicode=True).strip()
    return str(value)


@register.filter
def pieces(change: FieldChange) -> Sequence[tuple[str, str, str]]:
    """(`equal`, `replace`, `delete` or `insert`; text before; text after), piece by piece."""
    before, after = shown_value(change.before), shown_value(change.after)
    if len(before) > _MAX_LENGTH or len(after) > _MAX_LENGTH:
        return [("replace", before, after)]
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < 0.5:
        return [("replace", before, after)]
    return [
        (tag, "".join(old[i:j]), "".join(new[k:m])) for tag, i, j, k, m in matcher.get_opcodes()
    ]
