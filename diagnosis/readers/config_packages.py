"""Readers of package lists: `dpkg -l`, `rpm -qa`, `pip freeze`."""

import re

_DPKG = re.compile(r"(?:ii|hi)\s+(?P<name>\S+?)(?::\w+)?\s+(?P<version>\S+)")
_RPM = re.compile(r"(?P<name>[\w.+-]+)-(?P<version>[\w.+~^]+-[\w.+~^]+)\.\w+$")
_PIP = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[\w,]+\])?(?:==| @ )(?P<version>\S+)")


def read_dpkg(text: str) -> dict[str, tuple[str, int]]:
    """`pkg.<name>` → version of every installed package."""
    return _read(text, _DPKG, "pkg")


def read_rpm(text: str) -> dict[str, tuple[str, int]]:
    """`pkg.<name>` → version and release; of several versions (kernels) the last one listed."""
    return _read(text, _RPM, "pkg")


def read_pip(text: str) -> dict[str, tuple[str, int]]:
    """`pip.<name>` → version."""
    return _read(text, _PIP, "pip")


def _read(text: str, line_form: re.Pattern[str], prefix: str) -> dict[str, tuple[str, int]]:
    values: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        found = line_form.match(line.strip())
        if found is not None:
            values[f"{prefix}.{found['name'].lower()}"] = (found["version"], number)
    return values
