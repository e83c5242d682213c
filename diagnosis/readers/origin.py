"""Where evidence comes from, as far as its name tells (docs/contract.md, "Names in files")."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from diagnosis.core.evidence import Evidence
from diagnosis.readers.compression import name_inside

_JOB_HOST = re.compile(r"^job-(?P<job>[^.]+)\.(?P<host>[^.]+)\.[^.]+$")
_NCCL_TRACE = re.compile(r"^(?:nccl|hccl)_trace_rank_(?P<host>.+)_(?P<rank>\d+)(?:\.\w+)?$")
_RANK = re.compile(r"(?:^|[_\-.])(?:rank[_-]?|dump_)(?P<rank>\d+)(?:\.\w+)*$")
_HOST_LOG = re.compile(
    r"^(?:(?P<host>[A-Za-z0-9][\w-]*)\.[^.]+(?:\.[^.]+)*?|(?P<bare>[A-Za-z][\w-]*?-?\d+))\.log(?:\.\d+)?$"
)
#: What a host's own tools and logs are called; people put it before the host's name or behind it.
_TOOL = (
    r"(?:dmesg|kern(?:el)?|messages|syslog|journal(?:ctl)?|console|(?:nvidia|rocm)[-_]smi|ibstat"
    r"|sel|ipmi|bmc|slurmd|kubelet)"
)
_TOOL_AND_HOST = re.compile(
    rf"^(?:{_TOOL}[-_.](?P<after>[A-Za-z][\w-]*\d[\w-]*)|(?P<before>[A-Za-z][\w-]*\d[\w-]*?)[-_.]{_TOOL})"
    r"(?:\.(?:log|txt|out|jsonl?))*(?:\.\d)?$",
    re.IGNORECASE,
)
_NOT_A_HOST = re.compile(
    rf"^(?:{_TOOL}|slurm|job|rank|train|trainer|driver|engine|events|attempt|run|boot|debug|crash|error"
    r"|output|stdout|stderr|log|trace|dump|file|part|case|test|sample|latin|utf|ascii)[-_]?\d*$",
    re.IGNORECASE,
)


#: A log that every host has under this name: the folder that it lies in tells whose it is.
_EVERY_HOSTS = re.compile(
    rf"^(?:{_TOOL}|nvidia-bug-report|smi|stdout|stderr)(?:[-_.][a-z]{{1,4}}){{0,2}}$", re.IGNORECASE
)
_HOSTS_FOLDER = re.compile(
    r"^(?:sosreport-(?P<sos>.+?)-\d{4}-\d\d-\d\d-\w+|(?P<host>[A-Za-z][\w-]*\d[\w-]*)(?:\.[\w.-]+)?)$"
)
_NOT_A_HOSTS_FOLDER = re.compile(
    r"^(?:inc(?:ident)?|exp(?:eriment)?|v|version|model|rack|pod|restart|day|week|fold|stage|step"
    r"|epoch|node_rank|python)[-_]?\d*$|gpu[-_]?\d$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Origin:
    """The host, rank and job that evidence speaks for; None where that is not known.

    `guessed`: the host is but the name of a log, so the log's own words count for more.
    """

    host: str | None = None
    rank: int | None = None
    job: str | None = None
    guessed: bool = False


def origin_from_name(name: str) -> Origin:
    """Host, rank and job as a file's name tells them; an `Origin` of None where it does not."""
    path = PurePosixPath(name.replace("\\", "/"))
    base = name_inside(path.name)
    if found := _JOB_HOST.match(base):
        return Origin(host=found["host"], job=found["job"])
    if found := _NCCL_TRACE.match(base):
        return Origin(host=found["host"], rank=int(found["rank"]))
    if found := _RANK.search(base):
        return Origin(rank=int(found["rank"]))
    for form in (_TOOL_AND_HOST, _HOST_LOG):
        if found := form.match(base):
            host = found[1] or found[2]
            guessed = form is _HOST_LOG and found["bare"] is not None
            return Origin() if _NOT_A_HOST.match(host) else Origin(host=host, guessed=guessed)
    if _EVERY_HOSTS.match(base):
        return Origin(host=_host_of_folder(path.parts[:-1]))
    return Origin()


def _host_of_folder(folders: Sequence[str]) -> str | None:
    """The host that the nearest folder is called after."""
    for folder in reversed(folders):
        found = _HOSTS_FOLDER.match(folder)
        host = found and (found["sos"] or found["host"])
        if host and not _NOT_A_HOST.match(host) and not _NOT_A_HOSTS_FOLDER.match(host):
            return host
    return None


def origin_of(evidence: Evidence) -> Origin:
    """What the uploader said, completed from the name."""
    named = origin_from_name(evidence.name)
    return Origin(
        host=evidence.host or named.host,
        rank=named.rank if evidence.rank is None else evidence.rank,
        job=evidence.job or named.job,
        guessed=named.guessed and not evidence.host,
    )
