"""NetDiag's conclusion: what a ping matrix says, on what it rests, and what to do."""

from collections.abc import Sequence

from diagnosis.core.diagnosis import Conclusion, Finding, Recommendation, Suspect, Verdict
from diagnosis.core.pings import Probe
from diagnosis.core.target import Target
from diagnosis.core.topology import Topology
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass
from diagnosis.triage.netdiag import Cell, Explanation, NetworkPicture, network_picture
from diagnosis.triage.settings import TriageSettings
from diagnosis.triage.suspects import CULPRIT_SCORE, MAX_FINDINGS, advice

#: A single bad path in a matrix with this few cells could be chance or any of its parts.
FEW_CELLS = 6


def conclude_network(
    probes: Sequence[Probe], topology: Topology, settings: TriageSettings
) -> Conclusion | None:
    """What the ping matrices say together; None without any probe between two ends."""
    picture = network_picture(probes, topology, settings)
    if not picture.cells:
        return None
    if not picture.bad:
        return _clean(picture, topology, settings)
    if not picture.explanations or picture.explanations[0].fit < 0.5:
        return _scattered(picture, topology)
    return _found(picture, topology, settings)


def _found(picture: NetworkPicture, topology: Topology, settings: TriageSettings) -> Conclusion:
    scores = [_score(one, picture, settings) for one in picture.explanations]
    suspects = tuple(
        _suspect(one, score) for one, score in zip(picture.explanations, scores, strict=True)
    )
    first, score = picture.explanations[0], scores[0]
    text = f"{_shown(first)}: {_what(first.cells)}{_only_large(picture)}"
    certain = score >= CULPRIT_SCORE
    action = _action(first, certain=certain)
    lossy = any(cell.fault == "loss" for cell in first.cells)
    return Conclusion(
        branch="network",
        verdict=Verdict(
            kind=IncidentKind.CRASH if lossy else IncidentKind.DEGRADATION,
            cls=VerdictClass.CRITICAL if lossy else VerdictClass.DEGRADATION,
            summary=f"{text}; {_ADVICE[action]}.",
            confidence=score,
            coverage=_coverage(picture, topology),
        ),
        suspects=suspects,
        recommendations=tuple(advice(action, suspects[0].target, text, None)),
        trace=(
            f"NetDiag: {_rests_on(picture, topology)}",
            *(
                f"{_shown(one)} explains {one.share:.0%} of the bad cells; "
                f"{one.purity:.0%} of the cells through it are bad"
                for one in picture.explanations
            ),
        ),
        decisive=certain,
    )


def _score(one: Explanation, picture: NetworkPicture, settings: TriageSettings) -> float:
    score = 0.5 + 0.4 * one.fit if one.fit >= settings.ping_fit else 0.5 * one.fit
    if one.place.kind == "path" or len(picture.cells) < FEW_CELLS:
        score = min(score, 0.7)
    return round(score, 3)


def _suspect(one: Explanation, score: float) -> Suspect:
    target = _target(one)
    role = Role.CULPRIT if score >= CULPRIT_SCORE else Role.POSSIBLE
    worst = sorted(one.cells, key=lambda cell: (-cell.loss, -(cell.tail or 0.0), cell.first.line))
    findings = tuple(_finding(cell, target) for cell in worst[:MAX_FINDINGS])
    return Suspect(target, score, role, f"network-{worst[0].fault}", findings)


def _finding(cell: Cell, target: Target) -> Finding:
    ends = " to ".join(
        f"{end.host}/{end.nic}" if end.nic else end.host for end in (cell.source, cell.target)
    )
    times = f", round trip {cell.rtt:.0f} us" if cell.rtt is not None else ""
    tail = f" (99th percentile {cell.tail:.0f} us)" if cell.tail is not None else ""
    return Finding(
        detector="netdiag",
        target=target,
        text=f"{ends}, {cell.size} bytes: {cell.lost} of {cell.sent} lost{times}{tail}",
        evidence=cell.first.file,
        locator={"line": cell.first.line},
        time=cell.first.time,
    )


def _target(one: Explanation) -> Target:
    place = one.place
    if place.kind == "host":
        return Target(TargetKind.HOST, name=place.host, host=place.host)
    if place.kind in {"nic", "path"}:
        return Target(
            TargetKind.LINK, name=place.name, host=place.host, nic=place.nic, peer=place.peer
        )
    if place.kind == "switch":
        return Target(TargetKind.SWITCH, name=place.name)
    if place.kind == "uplink":
        return Target(TargetKind.LINK, name=f"{place.name}/uplink")
    return Target(TargetKind.SWITCH, name=_shown(one))


def _shown(one: Explanation) -> str:
    place = one.place
    return {
        "host": f"host {place.host}",
        "nic": f"link {place.name}" + (f" (to {place.peer})" if place.peer else ""),
        "path": f"path {place.name} to {place.peer}",
        "switch": f"switch {place.name}",
        "uplink": f"uplink of switch {place.name}",
        "pod": f"aggregation of pod {place.name}",
        "between pods": f"path between pods {place.name}",
    }[place.kind]


def _action(one: Explanation, *, certain: bool) -> Action:
    return Action.ISOLATE_HOST if one.place.kind == "host" and certain else Action.CHECK_LINK


_ADVICE = {
    Action.ISOLATE_HOST: "isolate the host and restart the job",
    Action.CHECK_LINK: "check both ends of it",
}


def _what(cells: Sequence[Cell]) -> str:
    lost = [cell for cell in cells if cell.fault == "loss"]
    if lost:
        share = sum(cell.lost for cell in lost) / max(1, sum(cell.sent for cell in lost))
        return f"{share:.1%} of the probes through it are lost ({len(lost)} pairs)"
    return f"round trips through it are slow ({len(cells)} pairs)"


def _only_large(picture: NetworkPicture) -> str:
    clean = [size for size in picture.sizes if size < min(picture.bad_sizes)]
    if not clean:
        return ""
    return f", only with probes of {min(picture.bad_sizes)} bytes and more ({max(clean)} pass)"


def _rests_on(picture: NetworkPicture, topology: Topology) -> str:
    sizes = ", ".join(str(size) for size in picture.sizes)
    known = f"{len(topology)} hosts wired" if len(topology) else "no topology, hosts alone"
    return (
        f"{len(picture.bad)} of {len(picture.cells)} cells are bad; "
        f"probe sizes {sizes} bytes; {known}"
    )


def _coverage(picture: NetworkPicture, topology: Topology) -> dict[str, object]:
    return {
        "ping_cells": len(picture.cells),
        "ping_sizes": list(picture.sizes),
        "topology_hosts": len(topology),
    }


def _clean(picture: NetworkPicture, topology: Topology, settings: TriageSettings) -> Conclusion:
    small = max(picture.sizes) <= settings.ping_small
    text = (
        f"No pair of {len(picture.cells)} loses or delays probes, but none was larger than "
        f"{max(picture.sizes)} bytes: a fault that drops large packets would not show. "
        "Probe again with 4 KB and more."
        if small
        else f"No pair of {len(picture.cells)} loses or delays probes of up to "
        f"{max(picture.sizes)} bytes: the ping matrix clears the network, not the hosts."
    )
    return _nobody(picture, topology, text)


def _scattered(picture: NetworkPicture, topology: Topology) -> Conclusion:
    text = (
        f"{len(picture.bad)} of {len(picture.cells)} pairs lose or delay probes and no host, link "
        "or switch explains them: congestion, or several faults at once."
    )
    return _nobody(picture, topology, text)


def _nobody(picture: NetworkPicture, topology: Topology, text: str) -> Conclusion:
    return Conclusion(
        branch="network",
        verdict=Verdict(
            kind=IncidentKind.NONE,
            cls=VerdictClass.UNKNOWN,
            summary=text,
            confidence=0.2,
            coverage=_coverage(picture, topology),
        ),
        recommendations=(Recommendation(Action.WATCH, Target(TargetKind.NONE), text),),
        trace=(f"NetDiag: {_rests_on(picture, topology)}", text),
    )
