"""The map of hosts: a cell each, by ToR group and pod, light enough for thousands."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from incidents.choices import HostState
from incidents.selectors import PlacedHost

#: The cell of each state: a class whose shape differs as well as its colour.
_CELLS: Mapping[str, SafeString] = {
    HostState.IN_SERVICE: mark_safe("<i></i>"),
}
#: States in the order in which they are told, the worst first.
_TOLD = (
    HostState.ISOLATED,
    HostState.SUSPECT,
    HostState.IN_REPAIR,
    HostState.BEING_CHECKED,
    HostState.IN_SERVICE,
)


@dataclass(frozen=True, slots=True)
class Tor:
    """One ToR group: its cells, and the same in words."""

    name: str
    hosts: int
    cells: SafeString
    words: str
    counts: Mapping[str, int]
    troubled: int


@dataclass(frozen=True, slots=True)
class Pod:
    """The ToR groups of one pod."""

    name: str
    hosts: int
    tors: Sequence[Tor]


def pods_of(hosts: Iterable[PlacedHost], troubled: Collection[int]) -> Sequence[Pod]:
    """The hosts, sorted by pod and ToR group, as a map; `troubled` ones have an open incident."""
    pods = []
    for name, inside in groupby(hosts, key=lambda host: host.pod):
        tors = [
            _tor(tor, list(group), troubled)
            for tor, group in groupby(inside, key=lambda host: host.tor)
        ]
        pods.append(Pod(name or "pod not told", sum(tor.hosts for tor in tors), tors))
    return pods


def counts_of(hosts: Iterable[PlacedHost]) -> Sequence[tuple[str, str, int]]:
    """State, its label and how many hosts stand there, the worst state first."""
    counts = Counter(host.state for host in hosts)
    return [(state.value, state.label, counts[state]) for state in _TOLD]


def _tor(name: str, hosts: Sequence[PlacedHost], troubled: Collection[int]) -> Tor:
    counts = Counter(host.state for host in hosts)
    open_here = sum(1 for host in hosts if host.pk in troubled)
    told = [
        f"{counts[state]} {state.label.lower()}"
        for state in _TOLD
        if counts[state] and state != HostState.IN_SERVICE
    ]
    if open_here:
        told.append(f"{open_here} with an open incident")
    return Tor(
        name=name,
        hosts=len(hosts),
        cells=format_html_join("", "{}", ([_cell(host, host.pk in troubled)] for host in hosts)),
        words=f"{len(hosts)} hosts: {', '.join(told) or 'all in service'}",
        counts=counts,
        troubled=open_here,
    )


def _cell(host: PlacedHost, troubled: bool) -> SafeString:
    plain = _CELLS.get(host.state)
    if plain is not None and not troubled:
        return plain
    state = HostState(host.state)
    return format_html(
        '<i class="{}{}" title="{}: {}{}"></i>',
        state.value,
        " open" if troubled else "",
        host.name,
        state.label.lower(),
        ", open incident" if troubled else "",
    )
