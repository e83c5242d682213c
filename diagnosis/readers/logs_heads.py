"""What stands before the message of a log line: time, host, rank and process.

Launchers and collectors put prefixes before prefixes (`srun -l`, pdsh, mpirun, torchrun, Ray,
container runtimes, syslog, NCCL); they are peeled off from the left, one at a time.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from diagnosis.readers.logs_times import Clock, Stamp, stamp_at, with_year

#: How many prefixes are peeled off at most.
MAX_PREFIXES = 12


@dataclass(frozen=True, slots=True)
class Head:
    """What a line says of itself before its message.

    `rank` is global; `local_rank` counts within the host (torchrun's `[default3]:`); `group_rank`
    is c10d's `[Rank r]`, the number within one process group, which is global only in the default
    group (`default_group` True). `task` is a label of the launcher (`srun -l`), trusted least.
    `end` is where the message begins. `prefixes` counts what was peeled off.
    """

    end: int = 0
    prefixes: int = 0
    stamp: Stamp | None = None
    host: str | None = None
    outer_host: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    group_rank: int | None = None
    default_group: bool | None = None
    task: int | None = None
    pid: int | None = None
    program: str | None = None

    @property
    def spoken_host(self) -> str | None:
        """The host that the line's own program names, else the one its collector names."""
        return self.host or self.outer_host


_HOST = r"(?!\d+\b)[A-Za-z0-9](?:[\w-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)*"
_IPV4 = r"\d{1,3}(?:\.\d{1,3}){3}"
_LEVEL = r"(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERR|ERROR|CRIT|CRITICAL|FATAL|ALERT|EMERG|TRACE)"

_NOT_HOSTS = re.compile(
    r"(?:eth|en[opsx]|ens|ib|bond|br|veth|docker|lo|mlx5_|mlx4_|nvme|sd[a-z]|dm-|md|loop|cpu|gpu|"
    r"cuda|rank|task|step|epoch|iter|line|error|warning|info|python|python3|nvidia|nvrm|mce|"
    r"edac|pci|usb|xfs|ext4|nfs|ipmi|w|e|i|f)[-_]?\d*$",
    re.IGNORECASE,
)

_Taken = Mapping[str, object]
_Peeler = Callable[["re.Match[str]", Head], _Taken]


def _whole(name: str) -> _Peeler:
    return lambda found, _: {name: int(found[1])}


def _c10d(found: re.Match[str], _: Head) -> _Taken:
    group = found["group"] or ""
    default = (
        None if not group else "default_pg" in group or group.strip() in {"0", "ID 0 PG GUID 0"}
    )
    return {"group_rank": int(found["rank"]), "default_group": default}


def _nccl(found: re.Match[str], _: Head) -> _Taken:
    return {"host": found["host"], "pid": int(found["pid"])}


def _syslog(found: re.Match[str], head: Head) -> _Taken:
    if head.stamp is None or head.stamp.clock is Clock.UPTIME or head.host:
        return {"end": None}
    return {"host": found["host"], "program": found["program"]}


def _ray(found: re.Match[str], _: Head) -> _Taken:
    taken: dict[str, object] = {"program": found["name"]}
    if found["pid"]:
        taken["pid"] = int(found["pid"])
    if found["ip"]:
        taken["outer_host"] = found["ip"]
    return taken


def _outer(found: re.Match[str], head: Head) -> _Taken:
    host = found["host"]
    if head.prefixes or _NOT_HOSTS.match(host) or not _looks_like_host(host):
        return {"end": None}
    return {"outer_host": host}


def _milabench(found: re.Match[str], head: Head) -> _Taken:
    if head.prefixes:
        return {"end": None}
    names = [part for part in found["name"].split(".") if _looks_like_host(part)]
    return {"outer_host": names[-1]} if names else {}


def _first_rank(found: re.Match[str], head: Head) -> _Taken:
    return {"end": None} if head.prefixes else {"rank": int(found[1])}


def _label(found: re.Match[str], head: Head) -> _Taken:
    return {"end": None} if head.prefixes else {"task": int(found[1])}


def _fields(found: re.Match[str], _: Head) -> _Taken:
    taken: dict[str, object] = {}
    for name, value in re.findall(r"(task|rank|node|host)=(\S+)", found[0]):
        if name in {"node", "host"}:
            taken["outer_host"] = value
        elif value.isdigit():
            taken["rank"] = int(value)
    return taken


def _nothing(_found: re.Match[str], _head: Head) -> _Taken:
    return {}


def _program(found: re.Match[str], head: Head) -> _Taken:
    return {"program": found[1]} if head.program is None else {"end": None}


def _looks_like_host(text: str) -> bool:
    if re.fullmatch(_IPV4, text):
        return True
    return bool(re.search(r"\d", text)) and bool(re.match(r"[A-Za-z]", text))


_PEELERS: tuple[tuple[re.Pattern[str], _Peeler], ...] = tuple(
    (re.compile(pattern), peeler)
    for pattern, peeler in (
        (r"\[rank:?\s?(\d+)\]:?", _whole("rank")),
        (r"\[R(?:ANK|ank) (\d+)\]:?", _first_rank),
        (r"(?:rank|RANK|Rank)[ =](\d+)(?:/\d+)?\s*[:|]", _whole("rank")),
        (r"\[\d+,(\d+)\]<std(?:err|out|diag)>:", _whole("rank")),
        (r"\[(?:default|trainer|worker|role)(\d+)\]:", _whole("local_rank")),
        (r"\[[IWEF]\d{0,4} ProcessGroup\w+\.cpp:\d+\]", _nothing),
        (r"\[(?:PG (?P<group>[^\]]*?) )?Rank (?P<rank>\d+)\]:?", _c10d),
        (rf"(?P<host>{_HOST}):(?P<pid>\d+):\d+ \[-?\d+\]", _nccl),
        (r"\((?P<name>[A-Za-z][\w.:-]*)(?: pid=(?P<pid>\d+))?(?:, ip=(?P<ip>[\d.]+))?\)", _ray),
        (r"(?:(?:task|rank|node|host)=\S+\s+)+\|?", _fields),
        (r"(?P<name>\S+) \[(?:stderr|stdout)\]", _milabench),
        (r"std(?:err|out) [FP](?= )", _nothing),
        (r"\[pod/[\w.-]+/[\w.-]+\]", _nothing),
        (r"<\d+>\d (?=\d{4}-)", _nothing),
        (r"\s*[0-9a-f]{1,4} \| (?=\d\d/\d\d/\d{4})", _nothing),
        (rf"(?P<host>{_IPV4}|{_HOST})\s*: (?=\S)", _outer),
        (r"\s*(\d{1,5}): (?=\S)", _label),
        (rf"\[?{_LEVEL}\]?:?(?=\s)", _nothing),
        (r"[IWEF](?=\s)", _nothing),
        (
            rf"(?P<host>{_IPV4}|{_HOST}) (?:{_LEVEL} )?"
            r"(?P<program>[\w./@#-]+(?:\([^)]*\))?)(?:\[\d+\])?(?::|(?= \d+ \S+ (?:-|\[)))",
            _syslog,
        ),
        (r"\[\d+\](?= \[rank|\s*$| [A-Z\[#f])", _nothing),
        (r"\d+ (?:[\w./-]+:\d+|[\w./-]+\.(?:cc|cpp|py|h):\d+)\]", _nothing),
        (r"[\w./-]+\.(?:cc|cpp|py|h):\d+\]", _nothing),
        (r"\[[\w./-]+\.(?:cc|cpp|py|h):\d+(?::\w+)?\]", _nothing),
        (r"(kernel|nvidia-smi|slurmstepd|slurmctld|srun)(?:\[\d+\])?:(?= )", _program),
    )
)
_SPACES = re.compile(r"[ \t]*")
_CALENDAR = {Clock.ZONED, Clock.ZONE_ASSUMED}


def parse_head(line: str) -> Head:
    """The prefixes of `line`, which carries neither line break nor colour codes."""
    head = Head()
    position = 0
    for _ in range(MAX_PREFIXES):
        gap = _SPACES.match(line, position)
        start = gap.end() if gap else position
        step = (
            _stamp(line, start, head) or _glog_tail(line, start, head) or _prefix(line, start, head)
        )
        if step is None:
            break
        head, position = step
    return replace(head, end=position + _blank(line, position))


def _blank(line: str, position: int) -> int:
    """One blank between the prefix and the message; more of them are indentation."""
    return 1 if 0 < position < len(line) and line[position] == " " else 0


def _stamp(line: str, start: int, head: Head) -> tuple[Head, int] | None:
    found = stamp_at(line, start)
    if found is None:
        return None
    stamp, end = found
    if line[end : end + 2] == ": ":
        end += 1
    return replace(head, stamp=_better(head.stamp, stamp), prefixes=head.prefixes + 1), end


def _better(known: Stamp | None, new: Stamp) -> Stamp:
    """The finer stamp; a year that only the other one tells is put into it."""
    if known is None:
        return new
    if new.clock is Clock.UPTIME:
        return known
    if known.clock is Clock.UPTIME:
        return new
    if new.clock is Clock.YEAR_UNKNOWN and known.year is not None:
        new = with_year(new, known.year)
    if known.clock is Clock.YEAR_UNKNOWN and new.year is not None:
        known = with_year(known, new.year)
    if known.clock is Clock.ZONED and new.clock is not Clock.ZONED and known.precision <= 1:
        return known
    return new if new.precision < known.precision else known


def _prefix(line: str, start: int, head: Head) -> tuple[Head, int] | None:
    for pattern, peeler in _PEELERS:
        found = pattern.match(line, start)
        if found is None:
            continue
        taken = dict(peeler(found, head))
        if "end" in taken:
            continue
        return replace(head, prefixes=head.prefixes + 1, **taken), found.end()  # type: ignore[arg-type]
    return None


_GLOG_TAIL = re.compile(r"\s*(?:\d+ )?[\w./<>-]+:\d+\]")


def _glog_tail(line: str, start: int, head: Head) -> tuple[Head, int] | None:
    """What follows a glog stamp: thread, file and line, up to the bracket."""
    if head.stamp is None:
        return None
    found = _GLOG_TAIL.match(line, start)
    return (head, found.end()) if found else None


def merged(outer: Head, inner: Head) -> Head:
    """The head of a line whose wrapper told `outer`: the line's own word wins."""
    stamp = inner.stamp
    if outer.stamp is not None:
        stamp = outer.stamp if stamp is None else _better(outer.stamp, stamp)
    return replace(
        inner,
        prefixes=inner.prefixes + outer.prefixes,
        stamp=stamp,
        outer_host=inner.outer_host or outer.outer_host,
        rank=outer.rank if inner.rank is None else inner.rank,
        program=inner.program or outer.program,
    )
