"""The output of `scontrol show job`, with or without `-d` and `-o` (man scontrol)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from aegis_register.api import RegistrationError
from aegis_register.hostlist import expand

#: The name is the user's text: on many lines it ends with its line, on one line (-o) at the first
#: field that follows it.
_HEAD = re.compile(
    r"JobId=(?P<id>\S+)(?:\s+(?:Array|HetJob)\w+=\S+)*\s+JobName=(?P<name>.*?)(?P<end>\s+)UserId=",
    re.DOTALL,
)
_LONG_NAME = re.compile(r"JobName=(?P<name>[^\n]*)\n\s+UserId=")
_FIELD = re.compile(r"(?:^|\s)([A-Za-z][\w/:]*)=")
#: From here on a line is the user's own text and no field of Slurm's.
_FREE_TEXT = re.compile(r"(?:^|\s)(?:Command|WorkDir|Std\w+|\w*Comment|Extra)=.*", re.MULTILINE)
_GPUS_PER_NODE = re.compile(r"(?:gres[/:])?gpu(?::[^:,=\s]+)?[:=](\d+)")
_GRES_INDEX = re.compile(r"gpu(?::[^:,(\s]+)?:\d+\(IDX:([\d,-]+)\)")


@dataclass(frozen=True)
class SlurmJob:
    """One job as scontrol shows it; `gpus_of` maps a host to the indices of its GPUs."""

    job_id: str
    name: str = ""
    user: str = ""
    state: str = ""
    restarts: int = 0
    node_list: str = ""
    ranks_per_node: int | None = None
    started_at: str | None = None
    ended_at: str | None = None
    gpus_of: dict[str, list[int]] = field(default_factory=dict)


def read_scontrol(text: str) -> SlurmJob:
    """The one job that scontrol shows. Raises `RegistrationError` where it is not one."""
    jobs = len(re.findall(r"^\s*JobId=", text, re.MULTILINE))
    if jobs != 1:
        raise RegistrationError(f"scontrol shows {jobs} jobs; one is needed")
    head = _HEAD.search(text)
    if head is None:
        raise RegistrationError("this is not what `scontrol show job` prints")
    named = _LONG_NAME.search(text) or head
    rest = _FREE_TEXT.sub("", text[named.end("name") :])
    fields = _fields(rest)
    return SlurmJob(
        job_id=head["id"],
        name=named["name"],
        user=fields.get("UserId", "").split("(")[0],
        state=fields.get("JobState", "").split("+")[0],
        restarts=_number(fields.get("Restarts")) or 0,
        node_list=_told(fields.get("NodeList")) or "",
        ranks_per_node=_ranks_per_node(fields),
        started_at=_time(fields.get("StartTime")),
        ended_at=_time(fields.get("EndTime")),
        gpus_of=_gpus_of(rest),
    )


def _fields(text: str) -> dict[str, str]:
    """Each field's first value: it ends where the next field or the line does."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        found = list(_FIELD.finditer(line))
        for number, start in enumerate(found):
            end = found[number + 1].start() if number + 1 < len(found) else len(line)
            fields.setdefault(start[1], line[start.end() : end].strip())
    return fields


def _gpus_of(text: str) -> dict[str, list[int]]:
    """Host → its GPUs, from the lines `Nodes=… GRES=gpu:h100:8(IDX:0-7)` that `-d` adds."""
    gpus: dict[str, list[int]] = {}
    for nodes, gres in re.findall(r"\bNodes=(\S+)\s+CPU_IDs=\S*\s+Mem=\S*\s+GRES=(\S*)", text):
        index = _GRES_INDEX.search(gres)
        if index:
            gpus.update((node, _indices(index[1])) for node in expand(nodes))
    return gpus


def _indices(text: str) -> list[int]:
    return [int(number) for number in expand(f"[{text}]")]


def _ranks_per_node(fields: dict[str, str]) -> int | None:
    """One rank a GPU where the job asked for GPUs, else one a task."""
    asked = _GPUS_PER_NODE.search(fields.get("TresPerNode", ""))
    if asked:
        return int(asked[1])
    every = _GPUS_PER_NODE.search(fields.get("AllocTRES", fields.get("TRES", "")))
    nodes = _number(fields.get("NumNodes"))
    if every and nodes and int(every[1]) % nodes == 0:
        return int(every[1]) // nodes
    tasks = _number(fields.get("NumTasks"))
    return tasks // nodes if tasks and nodes and tasks % nodes == 0 else None


def _told(value: str | None) -> str | None:
    return None if value in {None, "", "(null)", "None", "N/A", "Unknown"} else value


def _number(value: str | None) -> int | None:
    found = re.match(r"\d+", value or "")
    return int(found[0]) if found else None


def _time(value: str | None) -> str | None:
    """Slurm's local time with this machine's zone."""
    told = _told(value)
    try:
        return datetime.fromisoformat(told).astimezone().isoformat() if told else None
    except ValueError:
        return None
