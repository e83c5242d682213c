"""Plain data for drawing collective progress by rank and communicator, and who waits for whom."""

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from diagnosis.collectives.report import ranks_text
from diagnosis.collectives.wait_graph import wait_edges
from diagnosis.core.collectives import NOT_KNOWN, CollectiveProgress, Communicator, Ints
from diagnosis.core.diagnosis import Suspect
from diagnosis.core.words import Role

#: Above so many ranks one mark stands for a host.
FOLD_RANKS = 256
#: Marks over all communicators; the quiet ones that go beyond are left out.
MARKS = 3000
_MISMATCH = "collectives.mismatch"


def progress_picture(
    progress: CollectiveProgress, suspects: Sequence[Suspect] = (), summary: str = ""
) -> dict[str, object]:
    """JSON-able data: per communicator parallel lists over its ranks (or hosts), and the waits.

    Lists hold -1 where nothing is known. `blamed` is a list of roles, `""` for nobody. Folded by
    host (`folded` true), `ranks` holds each host's ranks as text, `enqueued` and `completed` the
    least of them, `waiting` whether any waits. `named` is the index of the communicator of which
    the answer's summary speaks, else of which the first suspect's findings speak; None for none.
    Of more than `MARKS` ranks or hosts over all communicators the quiet ones are left out, and
    `left_out` says how many. `mismatch` holds both sides of a call mismatch with their stacks.
    `lateness` has parallel lists over ranks (or hosts: their latest), the latest first, with the
    milliseconds that each keeps its peers waiting; empty where nobody is a straggler.
    """
    hosts = _hosts(progress, suspects)
    roles = {s.target.rank: s.role.value for s in suspects if s.target.rank is not None}
    folded = len(progress.world) > FOLD_RANKS and len(set(hosts.values())) > 1
    named = _named(progress, suspects, summary)
    shared = [index for index, one in enumerate(progress.communicators) if len(one.ranks) > 1]
    kept = _most_telling(progress, shared, named, hosts if folded else {})
    shown = [(index, progress.communicators[index]) for index in kept]
    ops = _operations(progress)
    return {
        "world": len(progress.world),
        "reported": len(progress.reported),
        "folded": folded,
        "named": named,
        "left_out": len(shared) - len(kept),
        "mismatch": _mismatch(suspects),
        "lateness": _lateness(progress, hosts, roles, folded=folded),
        "communicators": [
            {
                **_head(index, item, ops.get(index, set())),
                **(_folded if folded else _single)(progress, index, item, hosts, roles),
            }
            for index, item in shown
        ],
        "waits": [
            {
                "communicator": edge.communicator,
                "seq": edge.seq,
                "p2p": edge.p2p,
                "waiters": ranks_text(edge.waiters),
                "blockers": ranks_text(edge.blockers),
                "waiting_ranks": list(edge.waiters[:FOLD_RANKS]),
                "blocking_ranks": list(edge.blockers[:FOLD_RANKS]),
            }
            for edge in wait_edges(progress)
            if edge.blockers
        ],
    }


def _most_telling(
    progress: CollectiveProgress,
    shared: Sequence[int],
    named: int | None,
    hosts: Mapping[int, str],
) -> list[int]:
    """The communicators that are drawn: the named one, those in which someone waits or is behind,
    and of the others the largest, within `MARKS`; `hosts` fold their ranks, where there are any."""
    waited_in = {operation.communicator for operation in progress.waiting.values()}

    def telling(index: int) -> tuple[bool, bool, bool, int]:
        one = progress.communicators[index]
        uneven = one.enqueued.min() != one.enqueued.max()
        return (index == named, index in waited_in, bool(uneven), len(one.ranks))

    kept: list[int] = []
    marks = 0
    for index in sorted(shared, key=telling, reverse=True):
        ranks = progress.communicators[index].ranks.tolist()
        more = len({hosts.get(rank, "") for rank in ranks}) if hosts else len(ranks)
        if not kept or marks + more <= MARKS:
            kept.append(index)
            marks += more
    return sorted(kept)


def _mismatch(suspects: Sequence[Suspect]) -> list[dict[str, object]]:
    """Both sides of a call mismatch, as the first suspect's findings have them; empty for none."""
    findings = suspects[0].findings if suspects else ()
    return [
        {
            "text": finding.text,
            "evidence": finding.evidence,
            "entry": finding.locator.get("entry"),
            "frames": finding.locator.get("frames", []),
        }
        for finding in findings
        if finding.detector == _MISMATCH and finding.locator
    ][:2]


def _lateness(
    progress: CollectiveProgress,
    hosts: Mapping[int, str],
    roles: Mapping[int, str],
    *,
    folded: bool,
) -> dict[str, list[object]]:
    places: dict[object, list[int]] = {}
    for rank in progress.late_ms:
        places.setdefault(hosts.get(rank, "") if folded else rank, []).append(rank)
    late = {key: max(progress.late_ms[rank] for rank in ranks) for key, ranks in places.items()}
    order = sorted(places, key=lambda key: (-late[key], places[key]))[:MARKS]
    return {
        "ranks": [ranks_text(places[key]) if folded else key for key in order],
        "hosts": [hosts.get(places[key][0], "") for key in order],
        "late_ms": [round(late[key], 3) for key in order],
        "blamed": [_strongest(roles.get(rank, "") for rank in places[key]) for key in order],
    }


def _named(progress: CollectiveProgress, suspects: Sequence[Suspect], summary: str) -> int | None:
    """The longest label in the first text that has one: a label may begin with another."""
    findings = suspects[0].findings if suspects else ()
    for text in (summary, *(finding.text for finding in findings)):
        found = [
            (len(communicator.label), -index)
            for index, communicator in enumerate(progress.communicators)
            if re.search(rf"(?<!\w){re.escape(communicator.label)}(?!\w)", text)
        ]
        if found:
            return -max(found)[1]
    return None


def _hosts(progress: CollectiveProgress, suspects: Sequence[Suspect]) -> Mapping[int, str]:
    hosts = dict(progress.hosts)
    for suspect in suspects:
        if suspect.target.rank is not None and suspect.target.host:
            hosts.setdefault(suspect.target.rank, suspect.target.host)
    return hosts


def _operations(progress: CollectiveProgress) -> Mapping[int, set[str]]:
    """Communicator → what its members wait in."""
    found: dict[int, set[str]] = {}
    for operation in progress.waiting.values():
        found.setdefault(operation.communicator, set()).add(operation.call.op)
    return found


def _head(index: int, communicator: Communicator, ops: Iterable[str]) -> dict[str, object]:
    return {
        "index": index,
        "name": communicator.name,
        "label": communicator.label,
        "ops": sorted(ops),
        "size": len(communicator.ranks),
    }


def _single(
    progress: CollectiveProgress,
    index: int,
    communicator: Communicator,
    hosts: Mapping[int, str],
    roles: Mapping[int, str],
) -> dict[str, object]:
    ranks = [int(rank) for rank in communicator.ranks]
    waiting = [_waits(progress, index, rank) for rank in ranks]
    return {
        "ranks": ranks,
        "hosts": [hosts.get(rank, "") for rank in ranks],
        "enqueued": communicator.enqueued.tolist(),
        "completed": communicator.completed.tolist(),
        "reported": communicator.reported.tolist(),
        "waiting": waiting,
        "blamed": [roles.get(rank, "") for rank in ranks],
    }


def _folded(
    progress: CollectiveProgress,
    index: int,
    communicator: Communicator,
    hosts: Mapping[int, str],
    roles: Mapping[int, str],
) -> dict[str, object]:
    places: dict[str, list[int]] = {}
    for place, rank in enumerate(communicator.ranks):
        places.setdefault(hosts.get(int(rank), ""), []).append(place)
    rows = [np.asarray(found) for found in places.values()]
    ranks = [communicator.ranks[row] for row in rows]
    return {
        "ranks": [ranks_text(int(rank) for rank in group) for group in ranks],
        "hosts": list(places),
        "enqueued": [_least(communicator.enqueued[row]) for row in rows],
        "completed": [_least(communicator.completed[row]) for row in rows],
        "reported": [bool(communicator.reported[row].all()) for row in rows],
        "waiting": [any(_waits(progress, index, int(r)) for r in group) for group in ranks],
        "blamed": [_strongest(roles.get(int(rank), "") for rank in group) for group in ranks],
    }


def _waits(progress: CollectiveProgress, index: int, rank: int) -> bool:
    operation = progress.waiting.get(rank)
    return operation is not None and operation.communicator == index


def _least(values: Ints) -> int:
    known = values[values != NOT_KNOWN]
    return int(known.min()) if len(known) else NOT_KNOWN


def _strongest(roles: Iterable[str]) -> str:
    found = set(roles)
    return next((role.value for role in Role if role.value in found), "")
