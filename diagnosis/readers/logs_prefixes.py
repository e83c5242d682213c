"""The prefixes that launchers, collectors and libraries put before a log line."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from diagnosis.readers.logs_times import Stamp


class Draft:
    """What the prefixes peeled off so far have told (see `logs_heads.Head`).

    `host_at`, `outer_at`, `rank_at` and `task_at` are where in the line it stands; `varies` says
    that what was told hangs on more of the prefix than that.
    """

    __slots__ = (
        "default_group",
        "group_rank",
        "host",
        "host_at",
        "local_rank",
        "outer_at",
        "outer_host",
        "pid",
        "prefixes",
        "program",
        "rank",
        "rank_at",
        "stamp",
        "stamp_text",
        "task",
        "task_at",
        "varies",
    )

    def __init__(self) -> None:
        self.prefixes = 0
        self.stamp: Stamp | None = None
        self.stamp_text = ""
        self.host: str | None = None
        self.outer_host: str | None = None
        self.rank: int | None = None
        self.local_rank: int | None = None
        self.group_rank: int | None = None
        self.default_group: bool | None = None
        self.task: int | None = None
        self.pid: int | None = None
        self.program: str | None = None
        self.host_at: tuple[int, int] | None = None
        self.outer_at: tuple[int, int] | None = None
        self.rank_at: tuple[int, int] | None = None
        self.task_at: tuple[int, int] | None = None
        self.varies = False


#: Takes what a prefix tells; False when it is none after all.
_Taker = Callable[["re.Match[str]", Draft], bool]

_HOST = r"(?!\d+\b)[A-Za-z0-9](?:[\w-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)*"
_IPV4 = r"\d{1,3}(?:\.\d{1,3}){3}"
_LEVEL = r"(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERR|ERROR|CRIT|CRITICAL|FATAL|ALERT|EMERG|TRACE)"
_FIELD = re.compile(r"(task|rank|node|host)=(\S+)")

_PROGRAMS = {"kernel", "systemd", "nvidia-fabricmanager", "nv-hostengine", "slurmd", "slurmstepd"}

_ISO_STAMP = re.compile(r"\d{4}-\d\d-\d\dT")
_SYSLOG_STAMP = re.compile(
    r"(?:<\d+>)?(?:[A-Z][a-z]{2}\s+\d|\d{4} [A-Z]|[A-Z][a-z]{2} \d{4}-|\d{4}-\d\d-\d\dT)"
)

#: Words with a number that name a device or a thing, never a host.
_NOT_HOSTS = re.compile(
    r"(?:eth|en[opsx]|ens|ib|bond|br|veth|docker|lo|mlx5_|mlx4_|mlx|nvme|sd[a-z]|dm-|md|loop|cpu|"
    r"gpu(?![-_]\d\d|\d{3}|0\d)|"
    r"cuda|rank|task|step|epoch|iter|line|error|warning|info|python|python3|nvidia|nvrm|mce|"
    r"edac|pci|usb|xfs|ext4|nfs|ipmi|w|e|i|f|nvidia-(?:nvswitch|nvlink|uvm|modeset)|nvswitch|hfi1_|"
    r"irdma|rdma|tun|tap|cali|vlan|vxlan|eth\w+|en[opsxP][\da-z]*|nvme\d+n|nvme\d+c\d+n)[-_]?\d*$",
    re.IGNORECASE,
)


def _rank(found: re.Match[str], draft: Draft) -> bool:
    draft.rank, draft.rank_at = int(found[1]), found.span(1)
    return True


def _first_rank(found: re.Match[str], draft: Draft) -> bool:
    return not draft.prefixes and _rank(found, draft)


def _local_rank(found: re.Match[str], draft: Draft) -> bool:
    draft.local_rank = int(found[1])
    return True


def _c10d(found: re.Match[str], draft: Draft) -> bool:
    group = (found["group"] or "").strip()
    draft.group_rank = int(found["rank"])
    if group:
        draft.default_group = "default_pg" in group or group in {"0", "ID 0 PG GUID 0"}
    return True


def _nccl(found: re.Match[str], draft: Draft) -> bool:
    draft.host, draft.pid = found["host"], int(found["pid"])
    draft.host_at = found.span("host")
    return True


def _syslog(found: re.Match[str], draft: Draft) -> bool:
    """Host and program, right after a stamp of the kind that syslog and journal write."""
    host = found["host"]
    if draft.host or not (_SYSLOG_STAMP.match(draft.stamp_text) or _is_known(host, found)):
        return False
    if _ISO_STAMP.match(draft.stamp_text) and not (_looks_like_host(host) or "-" in host):
        return False
    draft.host, draft.program = host, found["program"]
    draft.host_at = found.span("host")
    return True


def _is_known(host: str, found: re.Match[str]) -> bool:
    """A host before a program that only a machine's own log names, whatever the stamp."""
    return found["program"] in _PROGRAMS and looks_like_host(host)


def _ray(found: re.Match[str], draft: Draft) -> bool:
    draft.program = found["name"]
    if found["pid"]:
        draft.pid = int(found["pid"])
    if found["ip"]:
        draft.outer_host, draft.outer_at = found["ip"], found.span("ip")
    return True


def _collector(found: re.Match[str], draft: Draft) -> bool:
    host = found["host"]
    if draft.prefixes or not looks_like_host(host):
        return False
    draft.outer_host, draft.outer_at = host, found.span("host")
    return True


def _rank_and_host(found: re.Match[str], draft: Draft) -> bool:
    """SageMaker's mpirun names both."""
    draft.outer_host, draft.outer_at = found["host"], found.span("host")
    return _rank(found, draft)


def _runner(found: re.Match[str], draft: Draft) -> bool:
    """`<run>.<host>.<more> [stderr]`: the last part that looks like a host."""
    if draft.prefixes:
        return False
    names = [part for part in found["name"].split(".") if _looks_like_host(part)]
    draft.outer_host, draft.varies = (names[-1] if names else None), True
    return True


def _task(found: re.Match[str], draft: Draft) -> bool:
    if draft.prefixes:
        return False
    draft.task, draft.task_at = int(found[1]), found.span(1)
    return True


def _fields(found: re.Match[str], draft: Draft) -> bool:
    draft.varies = True
    for name, value in _FIELD.findall(found[0]):
        if name in {"node", "host"}:
            draft.outer_host = value
        elif value.isdigit():
            draft.rank = int(value)
    return True


def _skip(_found: re.Match[str], _draft: Draft) -> bool:
    return True


def _program(found: re.Match[str], draft: Draft) -> bool:
    if draft.program is not None:
        return False
    draft.program = found[1]
    return True


def looks_like_host(text: str) -> bool:
    """Can it be a host's name by its looks alone? Devices and what programs count are none."""
    return _looks_like_host(text) and not _NOT_HOSTS.match(text)


def _looks_like_host(text: str) -> bool:
    if re.fullmatch(_IPV4, text):
        return True
    return bool(re.search(r"\d", text)) and bool(re.match(r"[A-Za-z]", text))


_BRACKET = (
    (r"\[rank:?\s?(\d+)\]:?", _rank),
    (r"\[R(?:ANK|ank) (\d+)\]:?", _first_rank),
    (r"\[\d+,(\d+)\]<std(?:err|out|diag)>:", _rank),
    (r"\[\d+,mpirank:(\d+),(?P<host>[\w.-]+)\]<std(?:err|out|diag)>:", _rank_and_host),
    (r"\[(?:default|trainer|worker|role)(\d+)\]:", _local_rank),
    (r"\[[IWEF]\d{0,4} ProcessGroup\w+\.cpp:\d+\]", _skip),
    (r"\[(?:PG (?P<group>[^\]]*?) )?Rank (?P<rank>\d+)\]:?", _c10d),
    (r"\[pod/(?P<host>[\w.-]+)/[\w.-]+\]", _collector),
    (r"\[pod/[\w.-]+/[\w.-]+\]", _skip),
    (rf"\[{_LEVEL}\]:?(?=\s)", _skip),
    (r"\[\d+\](?= \[rank|\s*$| [A-Z\[#f])", _skip),
    (r"\[[\w./-]+\.(?:cc|cpp|py|h):\d+(?::\w+)?\]", _skip),
    (r"\[(?P<host>[A-Za-z][\w-]*\d[\w-]*):\d+\](?= )", _collector),
)
_PAREN = (
    (r"\(\w+ rank=(\d+)(?: pid=\d+)?\)", _rank),
    (r"\((?P<name>[A-Za-z][\w.:-]*)(?: pid=(?P<pid>\d+))?(?:, ip=(?P<ip>[\d.]+))?\)", _ray),
)
_ANGLE = ((r"<\d+>\d (?=\d{4}-)", _skip),)
_BAR = ((rf"\| (?:{_LEVEL}|SUCCESS)\s*\| [\w.]+:[\w<>]+:\d+ - ", _skip),)
_DIGIT_ONLY = (
    (r"[0-9a-f]{1,4} \| (?=\d\d/\d\d/\d{4})", _skip),
    (r"(\d{1,5}): (?=\S)", _task),
    (r"\d\d:\d\d:\d\d(?:[.,]\d{1,6})?(?= )", _skip),
    (r"\d+ (?:[\w./-]+:\d+|[\w./-]+\.(?:cc|cpp|py|h):\d+)\]", _skip),
)
_WORD = (
    (r"(?:rank|RANK|Rank)[ =](\d+)(?:/\d+)?\s*[:|]", _rank),
    (rf"(?P<host>{_HOST}):(?P<pid>\d+):\d+ \[-?\d+\]", _nccl),
    (r"(?:(?:task|rank|node|host)=\S+\s+)+\|?", _fields),
    (r"(?P<name>\S+) \[(?:stderr|stdout)\]", _runner),
    (r"std(?:err|out) [FP](?= )", _skip),
    (r"[0-9a-f]{1,4} \| (?=\d\d/\d\d/\d{4})", _skip),
    (rf"(?P<host>{_IPV4}|{_HOST})\s*: (?=\S)", _collector),
    (rf"{_LEVEL}:?(?=\s)", _skip),
    (r"[IWEF](?=\s)", _skip),
    (
        (
            rf"(?P<host>{_IPV4}|{_HOST}) (?:{_LEVEL} |[a-z]+\d?\.[a-z]+ )?"
            r"(?P<program>[\w./@#-]+(?:\([^)]*\))?)(?:\[\d+\])?(?::|(?= (?:\d+|-) \S+ (?:-|\[)))"
        ),
        _syslog,
    ),
    (r"[\w./-]+\.(?:cc|cpp|py|h):\d+\]", _skip),
    (r"(kernel|nvidia-smi|slurmstepd|slurmctld|srun)(?:\[\d+\])?:(?= )", _program),
)


_GROUP_NAME = re.compile(r"\(\?P<\w+>")


@dataclass(frozen=True, slots=True)
class _Family:
    """The prefixes that can begin with one kind of character.

    `any` matches where one of them does: most lines have none, which one look tells.
    """

    any: re.Pattern[str]
    each: tuple[tuple[re.Pattern[str], _Taker], ...]


def _family(rows: tuple[tuple[str, _Taker], ...]) -> _Family:
    nameless = "|".join(f"(?:{_GROUP_NAME.sub('(?:', pattern)})" for pattern, _ in rows)
    return _Family(
        re.compile(nameless), tuple((re.compile(pattern), taker) for pattern, taker in rows)
    )


_BY_FIRST = {
    "[": _family(_BRACKET),
    "(": _family(_PAREN),
    "<": _family(_ANGLE),
    "|": _family(_BAR),
    "0": _family(_DIGIT_ONLY + _WORD),
    "a": _family(_WORD),
}


def peel(line: str, start: int, draft: Draft) -> int | None:
    """Take the prefix that begins at `start` into `draft`; where it ends, or None for none."""
    first = line[start : start + 1]
    kind = "0" if first.isdigit() else "a" if first.isalpha() else first
    family = _BY_FIRST.get(kind)
    if family is None or family.any.match(line, start) is None:
        return None
    for pattern, taker in family.each:
        found = pattern.match(line, start)
        if found is not None and taker(found, draft):
            draft.stamp_text = ""
            return found.end()
    return None
