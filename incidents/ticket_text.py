"""The texts with which a ticket is opened: templates with names in braces, and nothing cleverer."""

import re
from collections.abc import Mapping

from incidents.exceptions import InvalidInput

#: What a template may name.
NAMES = (
    "reference",
    "title",
    "severity",
    "kind",
    "status",
    "cluster",
    "job",
    "owner",
    "hosts",
    "answer",
    "confidence",
    "recommended",
    "commands",
    "opened",
    "url",
)
TITLE = "{reference}: {title}"
TEXT = """{answer}

Recommended: {recommended}
{commands}

Severity: {severity}
Cluster: {cluster}
Job: {job} ({owner})
Hosts: {hosts}
Opened: {opened}

{url}
"""
_NAME = re.compile(r"\{(\w*)\}")


def check(template: str, *, field: str) -> str:
    """The template. Raises `InvalidInput` for a name that it may not hold."""
    if unknown := [name for name in _NAME.findall(template) if name not in NAMES]:
        told = ", ".join(NAMES)
        raise InvalidInput(f"There is no {{{unknown[0]}}}. Known: {told}.", field=field)
    return template


def fill(template: str, values: Mapping[str, str]) -> str:
    """The text. A line that consists of names without a value is left out."""
    lines = [
        _NAME.sub(lambda found: values.get(found[1], ""), line)
        for line in template.splitlines()
        if not _says_nothing(line, values)
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _says_nothing(line: str, values: Mapping[str, str]) -> bool:
    names = _NAME.findall(line)
    return bool(names) and not any(values.get(name) for name in names)
