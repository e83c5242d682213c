"""Rung 5: RootDiag over the failed connections: one end, a pair, or nobody."""

from collections import Counter
from dataclasses import replace

from diagnosis.core.diagnosis import Recommendation, Suspect
from diagnosis.core.target import Target, normalise_host
from diagnosis.core.words import (
    Action,
    IncidentKind,
    Role,
    SignatureClass,
    TargetKind,
    VerdictClass,
)
from diagnosis.taxonomy.signature import Implicates
from diagnosis.triage.called_off import NOTICES
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Moment, earliest
from diagnosis.triage.departures import exit_clues
from diagnosis.triage.hang_ups import hung_up_in
from diagnosis.triage.outcome import Outcome
from diagnosis.triage.root_diag import ENDED_BY_PEER, NEVER_CONNECTED, Root, edges_of, root_of
from diagnosis.triage.silence import silent_hosts
from diagnosis.triage.suspects import advice, job_target, part_target, shown, suspect


def judge_connections(case: Case, job: str | None) -> Outcome | None:
    """RootDiag over the failed connections."""
    edges = edges_of(case.of(SignatureClass.DISTRIBUTED), case.addresses)
    if not edges:
        return None
    root = root_of(edges, case.settings)
    if root.node is not None and root.enough:
        return _common_end(root, case, job)
    if root.pair is not None:
        return _pair(root, case, job)
    return _several_ends(root, job)


def _common_end(root: Root, case: Case, job: str | None) -> Outcome:
    node = root.node or ""
    clues = [edge.clue for edge in root.edges]
    host = _as_given(node, root)
    target = Target(TargetKind.HOST, name=host, host=host)
    if {edge.clue.code for edge in root.edges} <= NEVER_CONNECTED:
        return _unreachable(root, host, job)
    if hung_up_in(root) == node:
        if ended := _ended_on(node, case):
            return _process_ended(root, host, ended, job)
        if _is_stopped(root, case):
            return _stopped(root, host, job)
    silent = normalise_host(node) not in {edge.source for edge in root.edges}
    score = 0.85 if silent else 0.8
    touching = sum(1 for edge in root.edges if node in (edge.source, edge.peer))
    text = f"of the first {len(root.edges)} failed connections {touching} touch {host}"
    return Outcome(
        cls=VerdictClass.DISTRIBUTED,
        kind=IncidentKind.CRASH,
        summary=f"{text[0].upper()}{text[1:]}; isolate {host} and restart the job.",
        confidence=score,
        suspects=(suspect(target, score, clues),),
        recommendations=tuple(advice(Action.ISOLATE_HOST, target, text, job)),
        trace=(f"RootDiag: {text} → isolate {host}",),
        decisive=False,
    )


def _is_stopped(root: Root, case: Case) -> bool:
    """Was the whole job stopped about when its connections were lost, as far as is known?"""
    notices = [
        clue
        for clue in case.clues
        if clue.code in NOTICES or (clue.code == "slurm-cancelled" and "*** JOB " in clue.text)
    ]
    start = earliest(edge.clue for edge in root.edges)[0].moment
    return any(_about_then(clue.moment, start, case.settings.clock_doubt) for clue in notices)


def _about_then(one: Moment | None, other: Moment | None, doubt: float) -> bool:
    if one is None or other is None or one.scale != other.scale:
        return True
    return abs(one.time - other.time) <= doubt


def _stopped(root: Root, host: str, job: str | None) -> Outcome:
    """Processes of a job that is stopped end one after another: the first is no culprit."""
    target = Target(TargetKind.HOST, name=host, host=host)
    text = f"the job was stopped from outside, and {len(root.edges)} connections to {host} with it"
    return Outcome(
        cls=VerdictClass.DISTRIBUTED,
        kind=IncidentKind.CRASH,
        summary=f"{text[0].upper()}{text[1:]}: nothing in these logs shows a fault.",
        confidence=0.5,
        suspects=(suspect(target, 0.3, [edge.clue for edge in root.edges]),),
        recommendations=(
            Recommendation(Action.RESTART_JOB, job_target(job), "No part is shown to be bad."),
        ),
        trace=(f"RootDiag: {text} → nobody is isolated",),
    )


def _ended_on(node: str, case: Case) -> dict[int, str]:
    """The ranks of a machine that are reported to have ended by themselves, and how."""
    hosts = {clue.place.rank: clue.place.machine for clue in exit_clues(case)}
    placed = {place.rank: normalise_host(place.host) for place in case.placement.places}
    return {
        rank: why
        for rank, why in case.ended_ranks.items()
        if node in {hosts.get(rank), placed.get(rank)}
    }


def _process_ended(root: Root, host: str, ended: dict[int, str], job: str | None) -> Outcome:
    """A process that ended closes its connections: that says nothing about its host."""
    target = Target(TargetKind.HOST, name=host, host=host)
    rank, why = min(ended.items())
    text = f"rank {rank} on {host} ended, and {len(root.edges)} connections to it with it"
    return Outcome(
        cls=VerdictClass.DISTRIBUTED,
        kind=IncidentKind.CRASH,
        summary=(
            f"{text[0].upper()}{text[1:]}; why is not in these logs. Look for its own error and "
            "for its host's out-of-memory killer, then restart the job."
        ),
        confidence=0.6,
        suspects=(suspect(target, 0.6, [edge.clue for edge in root.edges]),),
        recommendations=(
            Recommendation(Action.RESTART_JOB, job_target(job), "No part is shown to be bad."),
        ),
        trace=(f"RootDiag: {text} ({why}) → nobody is isolated",),
    )


def _unreachable(root: Root, host: str, job: str | None) -> Outcome:
    """Nobody ever reached it: an address or a route that is wrong is as likely as a bad host."""
    target = Target(TargetKind.HOST, name=host, host=host)
    text = f"{len(root.edges)} connections to {host} could not be made"
    return Outcome(
        cls=VerdictClass.DISTRIBUTED,
        kind=IncidentKind.CRASH,
        summary=(
            f"{text}: it is down, or its address or route is wrong (interface chosen by the "
            "library, firewall); check that it can be reached before anything is isolated."
        ),
        confidence=0.6,
        suspects=(suspect(target, 0.6, [edge.clue for edge in root.edges]),),
        recommendations=tuple(advice(Action.CHECK_LINK, target, text, job)),
        trace=(f"RootDiag: {text}; none was ever made → nobody is isolated",),
    )


def _as_given(node: str, root: Root) -> str:
    for edge in root.edges:
        if edge.source == node and edge.clue.place.host:
            return edge.clue.place.host
        if edge.peer == node and edge.clue.place.peer:
            return node
    return node


def _pair(root: Root, case: Case, job: str | None) -> Outcome:
    """All failures lie between two machines: the link for time-outs, the peer where it hung up."""
    clues = [edge.clue for edge in root.edges]
    first = clues[0]
    mutual = len({edge.source for edge in root.edges}) == 2
    hung_up = first.code in ENDED_BY_PEER and not mutual
    peer = root.edges[0].peer
    score = 0.6
    if hung_up:
        quiet = silent_hosts(case).get(peer)
        score = 0.5 if quiet is None else 0.75
        target = Target(TargetKind.HOST, name=peer, host=peer)
        victim = part_target(Implicates.HOST, first.place)
        suspects: tuple[Suspect, ...] = (
            suspect(target, 0.5, clues),
            suspect(victim, 0.05, clues, role=Role.VICTIM),
        )
        summary = (
            f"{shown(victim)} lost its connection to {peer}, which went first"
            f"{f' and had been silent for {quiet:.0f} s' if quiet is not None else ''}; "
            f"why is not in these logs: look at {peer}'s own log and restart the job."
        )
        action = advice(Action.RESTART_JOB, target, f"{peer} closed the connection.", job)
    else:
        target = replace(part_target(Implicates.LINK, first.place), peer=peer)
        suspects = (suspect(target, 0.6, clues),)
        summary = (
            f"Connections between {root.edges[0].source} and {root.edges[0].peer} fail"
            f"{f' on {first.place.nic}' if first.place.nic else ''}: the report cannot tell which "
            f"end is at fault; check both ends of the link."
        )
        action = advice(Action.CHECK_LINK, target, first.signature.explanation, job)
    return Outcome(
        cls=VerdictClass.DISTRIBUTED,
        kind=IncidentKind.CRASH,
        summary=summary,
        confidence=score,
        suspects=suspects,
        recommendations=tuple(action),
        trace=(
            (
                f"RootDiag: {len(root.edges)} failed connections, all between "
                f"{root.edges[0].source} and {peer}; both ends stay possible"
            ),
        ),
    )


def _several_ends(root: Root, job: str | None) -> Outcome:
    """Failed connections without one root: every end is possible, the most named first."""
    named = Counter(edge.peer for edge in root.edges)
    reporters = {edge.source for edge in root.edges}
    order = sorted(named, key=lambda peer: (peer in reporters, -named[peer], peer))
    share = min(0.6, 1.0 / max(1, len(order)))
    suspects = []
    for peer in order[:5]:
        clues = [edge.clue for edge in root.edges if edge.peer == peer]
        target = Target(TargetKind.HOST, name=peer, host=peer)
        suspects.append(suspect(target, share, clues))
    why = "fewer than three reporters on two hosts" if not root.enough else "no common end"
    return Outcome(
        cls=VerdictClass.DISTRIBUTED,
        kind=IncidentKind.CRASH,
        summary=(
            f"Connections to {', '.join(order[:3])} failed; {why}, so no end can be called the "
            f"cause: hand in the logs of the named hosts, and test the network between them."
        ),
        confidence=share,
        suspects=tuple(suspects),
        recommendations=(
            Recommendation(Action.RESTART_JOB, job_target(job), "No end can be called the cause."),
        ),
        trace=(f"RootDiag: {len(root.edges)} failed connections, {why} → nobody is isolated",),
    )
