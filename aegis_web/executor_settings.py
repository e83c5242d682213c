"""The executor as the environment describes it: off unless named, refused where unsound."""

import json
import re
from collections.abc import Mapping, Sequence

_PREFIX = "AEGIS_EXECUTOR"
#: What an argument may name between braces.
_PLACES = {"host", "reference", "cluster"}
_KNOWN = "{host}, {reference} and {cluster}"
#: The same commands as those that are shown to people (`incidents.commands`).
_COMMANDS: Mapping[str, Sequence[str]] = {
    "slurm": ("scontrol", "update", "nodename={host}", "state=drain", "reason={reference}"),
    "kubernetes": ("kubectl", "cordon", "--", "{host}"),
}


def executors_of(environment: Mapping[str, str]) -> dict[str, list[str]]:
    """Scheduler → the arguments of its command, for those that `AEGIS_EXECUTOR` names.

    Raises `ValueError`, which begins with the variable's name.
    """
    named = [one.strip() for one in environment.get(_PREFIX, "").split(",") if one.strip()]
    if unknown := [one for one in named if one not in _COMMANDS]:
        known = ", ".join(_COMMANDS)
        raise ValueError(f"{_PREFIX} knows {known}, not {unknown[0]!r}")
    return {one: _arguments(environment, one) for one in named}


def _arguments(environment: Mapping[str, str], scheduler: str) -> list[str]:
    name = f"{_PREFIX}_{scheduler.upper()}"
    given = environment.get(name, "").strip()
    if not given:
        return list(_COMMANDS[scheduler])
    wanted = f'{name} must be a JSON list of arguments such as ["scontrol", …, "{{host}}"]'
    try:
        arguments = json.loads(given)
    except ValueError as error:
        raise ValueError(f"{wanted}: {error}") from error
    if not isinstance(arguments, list) or not all(isinstance(one, str) for one in arguments):
        raise ValueError(wanted)
    if not arguments or "{" in arguments[0] or not any("{host}" in one for one in arguments):
        raise ValueError(f"{wanted}; a program first, and {{host}} after it")
    places = {name for one in arguments for name in re.findall(r"\{(\w+)\}", one)}
    if unknown := sorted(places - _PLACES):
        raise ValueError(f"{name}: nothing stands for {{{unknown[0]}}}; {_KNOWN} can be named")
    return arguments
