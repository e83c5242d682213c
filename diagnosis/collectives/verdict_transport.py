"""All launched the same and some rank has `WR > WC` that does not move: the communication side.

`WR > WC` marks every rank that waits, so single ranks are not judged by it. The oldest outstanding
request and the lowest `WC` are; a process that is known to have ended is ruled out first; a pair
is a link, and a rank that is common to many pairs is its NIC or host (docs/algorithms.md, 2).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from diagnosis.collectives.report import (
    JOB,
    Case,
    conclusion,
    isolate_and_restart,
    on_hosts,
    ranks_text,
    victims,
)
from diagnosis.core.collectives import NOT_KNOWN
from diagnosis.core.counters import CounterRow
from diagnosis.core.diagnosis import Conclusion, Finding, Recommendation, Suspect
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass

TRANSPORT = "collective-transport-stalled"
ENDED = "process-ended"
NET_DIAG = "NetDiag: probe reachability and latency between these ends, with packets over 1 KB."


@dataclass(frozen=True, slots=True)
class Request:
    """A rank's oldest outstanding request; `peer` is -1 where its source names none."""

    rank: int
    peer: int
    posted: float | None
    completed: int
    row: CounterRow
    posted_requests: int

    @property
    def pair(self) -> frozenset[int]:
        return frozenset({self.rank, self.peer})


def outstanding(case: Case, latest: Mapping[tuple[int, int], CounterRow]) -> list[Request]:
    """One request a rank and communicator where WR > WC; peers as global ranks."""
    found = []
    for index, communicator in enumerate(case.progress.communicators):
        if communicator.wr is None or communicator.wc is None:
            continue
        behind = (communicator.wr > communicator.wc) & (communicator.wc != NOT_KNOWN)
        for place in np.flatnonzero(behind).tolist():
            rank = int(communicator.ranks[place])
            row = latest[index, rank]
            peer = NOT_KNOWN if row.oldest is None else row.oldest.peer
            found.append(
                Request(
                    rank=rank,
                    peer=peer if peer in communicator.index_of_rank else NOT_KNOWN,
                    posted=None if row.oldest is None else row.oldest.posted,
                    completed=int(communicator.wc[place]),
                    row=row,
                    posted_requests=int(communicator.wr[place]),
                )
            )
    return found


def transport_verdict(
    case: Case, requests: Sequence[Request], trace: Sequence[str], *, still: bool
) -> Conclusion:
    """Whose requests are stuck, by the oldest of them; `still` says that two samples agree."""
    first = _first(case, requests)
    lines = [
        *trace,
        f"{len(requests)} ranks have work requests that were posted and not completed",
        f"the first of them: {', '.join(_request_text(item) for item in first[:4])}",
    ]
    gone = sorted({rank for item in first for rank in item.pair if rank in case.ended_ranks})
    if gone:
        return _ended(case, gone, requests, lines)
    pairs = {item.pair for item in first if item.peer != NOT_KNOWN}
    ends = Counter(rank for pair in pairs for rank in pair)
    common = [rank for rank, times in ends.items() if times == len(pairs)]
    if len(pairs) == 1:
        return _link(case, sorted(next(iter(pairs))), first, requests, lines, still=still)
    if len(pairs) > 1 and len(common) == 1:
        return _end(case, common[0], first, requests, lines, still=still)
    return _several(case, first, requests, lines)


def _first(case: Case, requests: Sequence[Request]) -> list[Request]:
    """The requests that got stuck first; without times those of the ranks with the lowest WC."""
    timed = [item for item in requests if item.posted is not None]
    if timed:
        oldest = min(item.posted for item in timed if item.posted is not None)
        until = oldest + case.settings.first_requests_s
        first = [item for item in timed if item.posted is not None and item.posted <= until]
    else:
        lowest = min(item.completed for item in requests)
        first = [item for item in requests if item.completed == lowest]
    return sorted(first, key=lambda item: (item.posted or 0.0, item.completed, item.rank))


def _request_text(item: Request) -> str:
    peer = f" with rank {item.peer}" if item.peer != NOT_KNOWN else ""
    return f"rank {item.rank}{peer}, {item.completed} of {item.posted_requests} completed"


def _findings(case: Case, items: Sequence[Request], target: Target) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            detector="collectives.transport",
            target=target,
            text=f"{item.row.source}: {_request_text(item)}",
            evidence=item.row.evidence,
            locator={"line": item.row.line, "communicator": item.row.communicator},
            time=item.posted,
        )
        for item in items[: case.settings.victims_shown]
    )


def _waiting(requests: Sequence[Request], named: Sequence[int]) -> set[int]:
    return {item.rank for item in requests} - set(named)


def _link(
    case: Case,
    ends: Sequence[int],
    first: Sequence[Request],
    requests: Sequence[Request],
    trace: Sequence[str],
    *,
    still: bool,
) -> Conclusion:
    one, other = (case.target(rank) for rank in ends)
    device = next((i.row.oldest.device for i in first if i.row.oldest and i.row.oldest.device), "")
    names = [f"{t.host or t.name}{'/' + device if device else ''}" for t in (one, other)]
    link = Target(TargetKind.LINK, name=names[0], host=one.host, peer=names[1])
    score = 0.8 if still else 0.5
    role = Role.CULPRIT if still else Role.POSSIBLE
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.DISTRIBUTED,
        summary=(
            f"All ranks launched the same, and the work requests between {ranks_text(ends)}"
            f"{on_hosts(case, ends)} do not complete: the communication side, between these two."
        ),
        confidence=score,
        trace=(*trace, "one pair: the link between them, or either end of it"),
        suspects=[
            Suspect(link, score, role, TRANSPORT, _findings(case, first, link)),
            *(Suspect(t, (1 - score) / 2, Role.POSSIBLE, TRANSPORT) for t in (one, other)),
            *victims(case, _waiting(requests, ends)),
        ],
        recommendations=[Recommendation(Action.CHECK_LINK, link, NET_DIAG)],
    )


def _end(
    case: Case,
    rank: int,
    first: Sequence[Request],
    requests: Sequence[Request],
    trace: Sequence[str],
    *,
    still: bool,
) -> Conclusion:
    target = case.target(rank)
    peers = sorted({peer for item in first for peer in item.pair} - {rank})
    score = 0.85 if still else 0.6
    role = Role.CULPRIT if still else Role.POSSIBLE
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.DISTRIBUTED,
        summary=(
            f"All ranks launched the same, and the stuck work requests with {ranks_text(peers)} "
            f"have rank {rank}{on_hosts(case, [rank])} in common: its NIC or host."
        ),
        confidence=score,
        trace=(*trace, f"rank {rank} is common to all pairs whose requests got stuck first"),
        suspects=[
            Suspect(target, score, role, TRANSPORT, _findings(case, first, target)),
            *victims(case, _waiting(requests, [rank])),
        ],
        recommendations=[Recommendation(Action.CHECK_LINK, target, NET_DIAG)],
    )


def _ended(
    case: Case, gone: Sequence[int], requests: Sequence[Request], trace: Sequence[str]
) -> Conclusion:
    how = case.ended_ranks[gone[0]]
    return conclusion(
        case,
        kind=IncidentKind.CRASH,
        cls=VerdictClass.DISTRIBUTED,
        summary=(
            f"{ranks_text(gone).capitalize()}{on_hosts(case, gone)} ended ({how}); the work "
            "requests that do not complete are the ones with it."
        ),
        confidence=0.9,
        trace=(*trace, "an end of the stuck requests is known to be gone: no network fault"),
        suspects=[
            *(Suspect(case.target(rank), 0.9, Role.CULPRIT, ENDED) for rank in gone),
            *victims(case, _waiting(requests, gone)),
        ],
        recommendations=isolate_and_restart(case, gone, "Its process ended and others wait."),
        decisive=True,
    )


def _several(
    case: Case, first: Sequence[Request], requests: Sequence[Request], trace: Sequence[str]
) -> Conclusion:
    """No pair and no common end: the ranks of the oldest requests, each only possible."""
    ranks = list(dict.fromkeys(item.rank for item in first))[: case.settings.victims_shown]
    suspects = [
        Suspect(
            case.target(rank),
            0.6 / len(ranks),
            Role.POSSIBLE,
            TRANSPORT,
            _findings(case, [item for item in first if item.rank == rank], case.target(rank)),
        )
        for rank in ranks
    ]
    return conclusion(
        case,
        kind=IncidentKind.HANG,
        cls=VerdictClass.DISTRIBUTED,
        summary=(
            f"All ranks launched the same and work requests of {ranks_text(ranks)} do not "
            "complete: the communication side; no single pair or end explains them."
        ),
        confidence=0.5,
        trace=trace,
        suspects=[*suspects, *victims(case, _waiting(requests, ranks))],
        recommendations=[
            *(Recommendation(Action.CHECK_LINK, case.target(rank), NET_DIAG) for rank in ranks),
            Recommendation(Action.WATCH, JOB, "Take a second sample of the work requests."),
        ],
    )
