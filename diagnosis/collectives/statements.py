"""Statements against single ranks or processes, and the suspects that they add up to.

A statement is RAS's launch counts, a process that RAS lost, c10d's desync report, torchfrtrace's
output, or a stack inside NCCL's launch. Kinds that agree on a target are worth more than one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from diagnosis.collectives.report import Case
from diagnosis.core.collective_reports import (
    CollectiveReports,
    Line,
    LostProcess,
    RankStatement,
    RasMismatch,
    RasRank,
)
from diagnosis.core.diagnosis import Finding, Suspect
from diagnosis.core.target import Target
from diagnosis.core.words import Role, TargetKind

BEHIND = "collective-rank-missing"
MISMATCH = "collective-call-mismatch"
INSIDE_NCCL = "stuck-in-nccl-launch"
LOST = "ras-process-lost"

#: How far each kind of statement is trusted by itself, what it blames, and its name in texts.
_TRUST = {
    "desync": (0.85, BEHIND, "the desync report"),
    "desync-unfinished": (0.4, BEHIND, "the desync report"),
    "torchfrtrace": (0.6, BEHIND, "torchfrtrace"),
    "torchfrtrace-mismatch": (0.6, MISMATCH, "torchfrtrace"),
    "stack": (0.6, INSIDE_NCCL, "its stack"),
}

_DECISIVE_SCORE = 0.8


@dataclass(frozen=True, slots=True)
class Vote:
    """One statement against one target: how likely it makes it the cause, and why."""

    target: Target
    weight: float
    text: str
    line: Line
    fault: str
    source: str


def votes_of(case: Case, reports: CollectiveReports) -> list[Vote]:
    """Every statement that singles somebody out, as a vote against that target."""
    timed_out = any(report.timed_out for report in reports.work) or any(
        statement.source == "torchfrtrace" for statement in reports.statements
    )
    votes = [vote for item in reports.mismatches for vote in _ras_votes(case, item, timed_out)]
    votes += [_lost_vote(item) for item in reports.lost]
    named = {item.source for item in reports.statements}
    weaker = {"desync-unfinished"} if "desync" in named else set()
    for item in reports.statements:
        if item.source not in weaker:
            votes += _statement_votes(case, item)
    return votes


def _ras_votes(case: Case, item: RasMismatch, timed_out: bool) -> list[Vote]:
    """The listed minority, if it launched fewer; a minority that launched more are leaders."""
    *fewer, most = item.counts
    lagging = sum(row.number for row in fewer)
    if lagging > most.number:
        return []
    weight = 0.75 if timed_out else 0.6
    return [
        Vote(
            _ras_target(case, item, member),
            weight,
            f"RAS: rank {member.rank} launched {row.launched} of {most.launched} "
            f"{item.operation} operations of communicator {item.communicator}",
            item.line,
            BEHIND,
            "RAS",
        )
        for row in fewer
        for member in row.ranks
    ]


def _ras_target(case: Case, item: RasMismatch, member: RasRank) -> Target:
    if item.whole_job and case.placement.host_of(member.rank) is not None:
        return case.placement.target_of_rank(member.rank)
    rank = member.rank if item.whole_job else None
    if member.node is None:
        name = f"rank {member.rank}" + ("" if item.whole_job else f" of {item.communicator}")
        return Target(TargetKind.RANK, name=name, rank=rank)
    return Target(TargetKind.HOST, name=member.node, host=member.node, gpu=member.gpu, rank=rank)


def _lost_vote(item: LostProcess) -> Vote:
    target = Target(TargetKind.HOST, name=item.node, host=item.node, gpu=item.gpu)
    how = "considers dead" if item.dead else "got no answer from"
    text = f"RAS {how} the process on {item.node} that manages GPU {item.gpu}"
    return Vote(target, 0.85 if item.dead else 0.6, text, item.line, LOST, "RAS")


def _statement_votes(case: Case, item: RankStatement) -> list[Vote]:
    """Another program's verdict counts while it names a minority, and less the more it names."""
    if item.members and len(item.ranks) * 2 > len(item.members):
        return []
    if len(item.ranks) > case.settings.victims_shown:
        return []
    weight, fault, source = _TRUST[item.source]
    said = item.line.text.strip(" -\t")
    text = f"{source}: {said}"[:300]
    return [Vote(case.target(rank), weight, text, item.line, fault, source) for rank in item.ranks]


def suspects_of(votes: Sequence[Vote]) -> list[Suspect]:
    """One suspect a target; independent kinds of statements that agree add up."""
    by_target: dict[tuple[object, ...], list[Vote]] = {}
    for vote in votes:
        key = ("rank", vote.target.rank) if vote.target.rank is not None else vote.target.key
        by_target.setdefault(key, []).append(vote)
    found = []
    for same in by_target.values():
        strongest = {vote.source: vote for vote in sorted(same, key=lambda v: v.weight)}
        doubt = 1.0
        for vote in strongest.values():
            doubt *= 1.0 - vote.weight
        target = next((v.target for v in same if v.target.host), same[0].target)
        score = min(0.95, 1.0 - doubt)
        role = Role.CULPRIT if score >= _DECISIVE_SCORE else Role.POSSIBLE
        findings = tuple(finding_of(target, vote) for vote in same[:8])
        found.append(Suspect(target, score, role, same[0].fault, findings))
    found.sort(key=lambda s: (-s.score, s.target.rank is None, s.target.rank or 0, str(s.target)))
    return found


def finding_of(target: Target, vote: Vote) -> Finding:
    """The vote as a finding about `target`, leading to its line."""
    return Finding(
        detector="collectives.reports",
        target=target,
        text=vote.text,
        evidence=vote.line.evidence,
        locator={"line": vote.line.number},
        weight=vote.weight,
    )
