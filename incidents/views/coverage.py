"""On what an answer rests, in words: how many hosts and ranks spoke, and which were silent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

#: What of the coverage is a count of its own; the rest is part of a share or of the trace.
_COUNTED = frozenset({"logs"})
_ONE = {"logs": "log"}
#: What the sentence about the hosts says already.
_OF_HOSTS = frozenset({"hosts", "hosts_expected", "hosts_with_logs"})
_SILENT = ("hosts_without_logs", "hosts_without_dumps")
_NAMES = 8


@dataclass(frozen=True, slots=True)
class Coverage:
    """The sentence about the hosts, further counts in words, and what was missing."""

    hosts: str = ""
    counts: Sequence[str] = ()
    notes: Sequence[str] = field(default=())

    @property
    def told(self) -> Sequence[str]:
        """All that is counted, the hosts first."""
        return [one for one in (self.hosts, *self.counts) if one]


def coverage_of(coverage: Mapping[str, object]) -> Coverage:
    """`{"ranks": {"expected": 8, "reported": 7}, "logs": 3}` as `7 of 8 ranks`, `3 logs`."""
    counts, notes = [], []
    hosts = _hosts(coverage)
    for name, value in coverage.items():
        words = name.replace("_", " ")
        if name in _OF_HOSTS or (hosts and name in _SILENT):
            continue
        if isinstance(value, Mapping):
            if value.get("expected"):
                counts.append(f"{value.get('reported', 0):,} of {value['expected']:,} {words}")
        elif isinstance(value, list) and name == "notes":
            notes += [str(note) for note in value]
        elif isinstance(value, list) and name == "kinds":
            told = "from " + " and ".join(str(kind).replace("-", " ") for kind in value)
            of_ranks = bool(counts) and counts[-1].endswith(" ranks")
            counts.append(f"{counts.pop()} {told}" if of_ranks else told)
        elif isinstance(value, list) and value:
            notes.append(f"{words}: {_named(value)}")
        elif isinstance(value, int) and value and name in _COUNTED:
            counts.append(f"{value:,} {_ONE.get(name, words) if value == 1 else words}")
    return Coverage(hosts, counts, notes)


def _hosts(coverage: Mapping[str, object]) -> str:
    """`judged on 126 of 128 hosts; node-004 sent nothing`; empty where no host is told of."""
    expected, reported = _counted(coverage)
    if not reported and not expected:
        return ""
    if not expected:
        return (
            f"judged on {reported:,} host{'' if reported == 1 else 's'}; how many the job has is "
            "not registered"
        )
    told = f"judged on {reported:,} of {expected:,} host{'' if expected == 1 else 's'}"
    silent = _silent(coverage)
    if reported < expected and silent:
        return f"{told}; {_named(silent)} sent nothing"
    return told


def _counted(coverage: Mapping[str, object]) -> tuple[int, int]:
    """How many hosts the job has, and how many spoke by logs, dumps or counters."""
    shares = coverage.get("hosts")
    share = shares if isinstance(shares, Mapping) else {}
    registered, logged = (
        _whole(coverage.get(name)) for name in ("hosts_expected", "hosts_with_logs")
    )
    expected = max(_whole(share.get("expected")), registered)
    without = coverage.get("hosts_without_logs")
    if registered and isinstance(without, list) and len(without) < _LISTED:
        logged = registered - len(without)
    return expected, min(max(_whole(share.get("reported")), logged), expected or 10**9)


#: The engine lists at most so many silent hosts.
_LISTED = 50


def _silent(coverage: Mapping[str, object]) -> Sequence[str]:
    """The hosts of which neither log nor dump came."""
    lists = [coverage[name] for name in _SILENT if isinstance(coverage.get(name), list)]
    named = [[str(host) for host in one] for one in lists if isinstance(one, list)]
    if not named:
        return []
    return [host for host in named[0] if all(host in others for others in named[1:])]


def _named(names: Sequence[object]) -> str:
    shown = [str(name) for name in names[:_NAMES]]
    if len(names) > _NAMES:
        return f"{', '.join(shown)} and {len(names) - _NAMES} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
