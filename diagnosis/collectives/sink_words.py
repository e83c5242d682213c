"""Ranks at which waits end, in words: for the summary, the trace and the proof."""

from collections.abc import Sequence

from diagnosis.collectives.operations import describe
from diagnosis.collectives.report import (
    Case,
    count,
    on_hosts,
    operation_finding,
    ranks_text,
    waits_in,
)
from diagnosis.collectives.wait_graph import Sink, Standing, WaitGraph
from diagnosis.core.collectives import NOT_KNOWN
from diagnosis.core.diagnosis import Finding


def lines_of(case: Case, graph: WaitGraph) -> list[str]:
    """For the trace: where the waits end, and why there."""
    verb = "waits" if len(graph.blocked) == 1 else "wait"
    lines = [f"{count(len(graph.blocked), 'rank')} {verb} for others, all communicators together"]
    for sink in graph.sinks[:16]:
        why = {
            Standing.ABSENT: f"no {case.word} of it was handed in",
            Standing.OUTSIDE: "it waits in no collective: it did not arrive",
            Standing.OVERTAKEN: f"its peers completed {sink.lead} operations more than it did",
            Standing.IDLE: "its GPU has not started what its host launched and its peers' GPUs did",
            Standing.LAGGING: "it is one operation behind",
            Standing.TOGETHER: "everyone has arrived where it stands",
        }[sink.standing]
        lines.append(f"the waits end at rank {sink.rank}: {why}")
    return lines


def summary_of(case: Case, graph: WaitGraph, sinks: Sequence[Sink]) -> str:
    """Who did not arrive, where, and who waits for it, in one sentence."""
    ranks = [sink.rank for sink in sinks]
    waiting = len(graph.blocked - set(ranks))
    first = sinks[0]
    who = f"{ranks_text(ranks).capitalize()}{on_hosts(case, ranks)}"
    waited = f"{count(waiting, 'other rank')} {'waits' if waiting == 1 else 'wait'}"
    if first.rank in case.ended_ranks:
        return f"{who} ended ({case.ended_ranks[first.rank]}) and {waited} for it."
    if first.standing is Standing.OVERTAKEN:
        return (
            f"{who} stopped completing operations that {'its' if len(ranks) == 1 else 'their'} "
            f"peers completed, and {waited}: the GPU or host side."
        )
    place = awaited(case, first)
    if first.standing is Standing.IDLE:
        return (
            f"{who} launched {place}, but {'its GPU has' if len(ranks) == 1 else 'their GPUs have'}"
            f" not come to it, and {waited}: a kernel before it, or the GPU, hangs."
        )
    return f"{who} did not arrive at {place} and {waited}: the computation side."


def awaited(case: Case, sink: Sink) -> str:
    """The operation in which others wait for it."""
    operation = case.progress.waiting[sink.edge.waiters[0]]
    communicator = case.progress.communicators[sink.edge.communicator]
    return f"{describe(operation.call)} #{sink.edge.seq} of {communicator.label}"


def what_of(case: Case, sink: Sink) -> str:
    """What it did, or did not do, in a few words."""
    if sink.rank in case.ended_ranks:
        return f"rank {sink.rank} ended ({case.ended_ranks[sink.rank]})"
    if sink.standing is Standing.OVERTAKEN:
        return f"rank {sink.rank} completed {sink.lead} operations fewer than its peers"
    if sink.standing is Standing.ABSENT:
        return f"rank {sink.rank} left no {case.word}"
    if sink.standing is Standing.IDLE:
        return f"the GPU of rank {sink.rank} did not come to {awaited(case, sink)}"
    return f"rank {sink.rank} did not arrive at {awaited(case, sink)}"


def proof_of(case: Case, graph: WaitGraph, sink: Sink) -> tuple[Finding, ...]:
    """What its counters say, and who waits for it where."""
    waiter = case.progress.waiting[sink.edge.waiters[0]]
    communicator = case.progress.communicators[sink.edge.communicator]
    peers = count(len(sink.edge.waiters), "peer")
    verb = "waits" if len(sink.edge.waiters) == 1 else "wait"
    text = (
        f"{_counted(case, sink)}; its {peers} {verb} in {waits_in(case.progress, waiter)}"
        if not sink.edge.p2p
        else f"{_counted(case, sink)}; rank {waiter.rank} waits for it in "
        f"{waits_in(case.progress, waiter)}"
    )
    proof = [operation_finding(case, waiter, text, rank=sink.rank)]
    own = case.progress.waiting.get(sink.rank)
    if own is not None:
        index = communicator.index_of_rank.get(sink.rank)
        enqueued = int(communicator.enqueued[index]) if index is not None else NOT_KNOWN
        launched = f" although it launched up to #{enqueued}" if enqueued >= sink.edge.seq else ""
        stands = f"rank {sink.rank} stands in {waits_in(case.progress, own)}{launched}"
        proof.append(operation_finding(case, own, stands))
    if sink.rank in case.ended_ranks:
        proof.append(
            Finding(
                detector="collectives.process",
                target=case.target(sink.rank),
                text=f"the process of rank {sink.rank} ended: {case.ended_ranks[sink.rank]}",
                evidence=None,
            )
        )
    return tuple(proof)


def _counted(case: Case, sink: Sink) -> str:
    communicator = case.progress.communicators[sink.edge.communicator]
    if sink.standing is Standing.ABSENT:
        return f"rank {sink.rank} left no {case.word}"
    if sink.standing is Standing.OVERTAKEN:
        return f"rank {sink.rank} completed {sink.lead} operations fewer than a peer"
    if sink.standing is Standing.IDLE:
        return f"the GPU of rank {sink.rank} has not started what its host launched"
    index = communicator.index_of_rank.get(sink.rank)
    launched = int(communicator.enqueued[index]) if index is not None else NOT_KNOWN
    if launched == NOT_KNOWN or sink.edge.p2p:
        return f"rank {sink.rank} has nothing open in {communicator.label}"
    return (
        f"rank {sink.rank} launched {launched} of {sink.edge.seq} collectives of "
        f"{communicator.label}"
    )
