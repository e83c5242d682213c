"""What every verdict about collectives is put together from: targets, suspects, texts, coverage."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from diagnosis.collectives.operations import describe
from diagnosis.collectives.settings import CollectiveSettings
from diagnosis.core.collectives import CollectiveProgress, OpenOperation, SourceFrame
from diagnosis.core.diagnosis import Conclusion, Finding, Recommendation, Suspect, Verdict
from diagnosis.core.placement import Placement
from diagnosis.core.target import Target, normalise_host
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass

BRANCH = "collectives"
JOB = Target(TargetKind.JOB, name="the job")

#: Runs of ranks that are named one by one.
_MOST_RUNS = 4
#: Hosts that the advice to restart names.
_NAMED = 3
_LIBRARY_PARTS = ("/torch/", "/site-packages/", "/dist-packages/", "<frozen", "<string>")


@dataclass(frozen=True, slots=True)
class Case:
    """The evidence of one attempt in the form that every rule reads.

    `word` is what one rank's evidence is called, `kinds` which kinds of evidence there are.
    """

    progress: CollectiveProgress
    placement: Placement
    settings: CollectiveSettings
    ended_ranks: Mapping[int, str]
    kinds: tuple[str, ...] = ("flight-recorder",)
    word: str = "dump"

    def target(self, rank: int) -> Target:
        """The rank on its host: from the placement, else from what named the dump."""
        host = self.progress.hosts.get(rank)
        if host and self.placement.host_of(rank) is None:
            return Target(TargetKind.HOST, name=host, host=host, rank=rank)
        return self.placement.target_of_rank(rank)

    def host_of(self, rank: int) -> str | None:
        """The host of `target`, without the rest: a job has many thousands of ranks."""
        place = self.placement.by_rank.get(rank)
        return self.progress.hosts.get(rank) if place is None else place.host

    def coverage(self) -> dict[str, object]:
        """On how many of the expected ranks and hosts the verdict rests."""
        expected, reported = self.progress.world, self.progress.reported
        seen = set(map(self.host_of, reported)) - {None}
        silent = (rank for rank in expected if rank not in reported)
        hosts = seen | set(map(self.host_of, silent)) - {None}
        notes = [*self.progress.notes]
        if not any(c.wr is not None for c in self.progress.communicators):
            notes.append("no source counts work requests (WR/WC): transport cannot be judged")
        return {
            "ranks": {"expected": len(expected), "reported": len(reported)},
            "hosts": {"expected": len(hosts), "reported": len(seen)},
            "kinds": list(self.kinds),
            "notes": notes,
        }


def conclusion(
    case: Case,
    *,
    kind: IncidentKind,
    cls: VerdictClass,
    summary: str,
    confidence: float,
    trace: Sequence[str],
    suspects: Sequence[Suspect] = (),
    recommendations: Sequence[Recommendation] = (),
    decisive: bool = False,
    lost_share: float | None = None,
) -> Conclusion:
    """A conclusion of this branch, with the coverage of its case.

    `lost_share` (0..1) is the share of the job's time that slowness takes, where it is known.
    """
    coverage = case.coverage()
    if lost_share is not None:
        coverage["lost_share"] = round(lost_share, 4)
    return Conclusion(
        branch=BRANCH,
        verdict=Verdict(kind, cls, summary, confidence, coverage),
        suspects=tuple(suspects),
        recommendations=tuple(recommendations),
        trace=tuple(trace),
        decisive=decisive,
    )


def victims(case: Case, ranks: Iterable[int]) -> list[Suspect]:
    """A few of the waiting ranks, each with what it waits in; never recommended for isolation."""
    shown: list[Suspect] = []
    for rank in sorted(ranks):
        if len(shown) >= case.settings.victims_shown:
            break
        operation = case.progress.waiting.get(rank)
        if operation is None:
            continue
        text = f"rank {rank} waits in {waits_in(case.progress, operation)}"
        finding = operation_finding(case, operation, text, weight=-1.0)
        shown.append(Suspect(case.target(rank), 0.0, Role.VICTIM, None, (finding,)))
    return shown


def operation_finding(
    case: Case,
    operation: OpenOperation,
    text: str,
    *,
    rank: int | None = None,
    weight: float = 1.0,
) -> Finding:
    """A finding that leads to an open operation's entry; about `rank` where that is another."""
    return Finding(
        detector="collectives.arrival",
        target=case.target(operation.rank if rank is None else rank),
        text=text,
        evidence=operation.source,
        locator={
            "entry": operation.record_id,
            "communicator": case.progress.communicators[operation.communicator].name,
            "seq": operation.seq,
            "frames": [frame_text(frame) for frame in operation.frames[:8]],
        },
        time=operation.created_ns / 1e9 or None,
        weight=weight,
    )


def waits_in(progress: CollectiveProgress, operation: OpenOperation) -> str:
    """`all_reduce [64, 32] Float #14 of TP_2 (group 3), called at step (train.py:75)`."""
    label = progress.communicators[operation.communicator].label
    ends = f" with {ranks_text(operation.peers)}" if operation.peers else ""
    called = call_site(operation.frames)
    place = f", called at {called}" if called else ""
    return f"{describe(operation.call)} #{operation.seq} of {label}{ends}{place}"


def call_site(frames: Sequence[SourceFrame]) -> str:
    """The innermost frame of the user's own code; empty without stacks."""
    own = [f for f in frames if f.file and not any(part in f.file for part in _LIBRARY_PARTS)]
    named = [f for f in own if f.function != "<lambda>"] or own
    return frame_text(named[0]) if named else ""


def frame_text(frame: SourceFrame) -> str:
    return f"{frame.function} ({frame.file}:{frame.line})"


def ranks_text(ranks: Iterable[int], most: int = 8) -> str:
    """`rank 3`, `ranks 1, 2 and 5`, `ranks 0–63`, `ranks 0–17 and 19–63`, or the first few."""
    ordered = sorted(ranks)
    if len(ordered) == 1:
        return f"rank {ordered[0]}"
    if len(ordered) > 2 and ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"ranks {ordered[0]}–{ordered[-1]}"
    if len(ordered) > most and (runs := _runs(ordered)):
        return f"ranks {', '.join(runs[:-1])} and {runs[-1]}"
    if len(ordered) > most:
        shown = ", ".join(str(rank) for rank in ordered[:most])
        return f"ranks {shown} and {len(ordered) - most} more"
    return f"ranks {', '.join(map(str, ordered[:-1]))} and {ordered[-1]}"


def _runs(ordered: Sequence[int]) -> list[str]:
    """Ascending ranks as a few runs, `0–17`; empty where they are scattered over more."""
    begins = [0, *(at for at in range(1, len(ordered)) if ordered[at] > ordered[at - 1] + 1)]
    if len(begins) > _MOST_RUNS:
        return []
    ends = [*begins[1:], len(ordered)]
    return [
        f"{ordered[begin]}–{ordered[end - 1]}" if end - begin > 1 else str(ordered[begin])
        for begin, end in zip(begins, ends, strict=True)
    ]


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def on_hosts(case: Case, ranks: Sequence[int]) -> str:
    """` on node-001`, with the hosts of the ranks in order; empty where none is known."""
    hosts = {case.target(rank).host: None for rank in ranks}
    known = [host for host in hosts if host]
    return f" on {', '.join(known[:4])}" if known else ""


def isolate_and_restart(case: Case, ranks: Sequence[int], reason: str) -> list[Recommendation]:
    """Isolate each culprit's host once, then restart the job without it."""
    recommendations: list[Recommendation] = []
    seen: dict[str, str] = {}
    for rank in ranks:
        target = case.target(rank)
        name = target.host or f"rank {rank}"
        key = normalise_host(target.host) if target.host else name
        if key in seen:
            continue
        seen[key] = name
        if target.host:
            target = Target(TargetKind.HOST, name=target.host, host=target.host)
        recommendations.append(Recommendation(Action.ISOLATE_HOST, target, reason))
    names = list(seen.values())
    further = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    without = f"Restart from the last checkpoint without {', '.join(names[:_NAMED])}{further}."
    return [*recommendations, Recommendation(Action.RESTART_JOB, JOB, without)]
