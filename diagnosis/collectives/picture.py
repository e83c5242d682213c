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


def progress_picture(
    progress: CollectiveProgress, suspects: Sequence[Suspect] = (), summary: str = ""
) -> dict[str, object]:
    """JSON-able data: per communicator parallel lists over its ranks (or hosts), and the waits.

    Lists hold -1 where nothing is known. `blamed` is a list of roles, `""` for nobody. Folded by
    host (`folded` true), `ranks` holds each host's ranks as text, `enqueued` and `completed` the
    least of them, `waiting` whether any waits. `named` is the index of the communicator of which
    the answer's summary speaks, else of which the first suspect's findings speak; None for none.
    """
    hosts = _hosts(progress, suspects)
    roles = {s.target.rank: s.role.value for s in suspects if s.target.rank is not None}
    folded = len(progress.world) > FOLD_RANKS and len(set(hosts.values())) > 1
    shown = [
        (index, communicator)
        for index, communicator in enumerate(progress.communicators)
        if len(communicator.ranks) > 1
    ]
    return {
        "world": len(progress.world),
        "reported": len(progress.reported),
        "folded": folded,
        "named": _named(progress, suspects, summary),
        "communicators": [
            _folded(progress, index, item, hosts, roles)
            if folded
            else _single(progress, index, item, hosts, roles)
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


def _head(
    progress: CollectiveProgress, index: int, communicator: Communicator
) -> dict[str, object]:
    ops = {
        operation.call.op
        for operation in progress.waiting.values()
        if operation.communicator == index
    }
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
        **_head(progress, index, communicator),
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
        **_head(progress, index, communicator),
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
