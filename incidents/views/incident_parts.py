"""What the incident's page shows of an answer, in the order in which people ask."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from incidents import selectors
from incidents.choices import ParseStatus, SuspectRole
from incidents.commands import commands_for
from incidents.hostnames import normalise_host
from incidents.models import (
    Decision,
    Diagnosis,
    Evidence,
    Finding,
    Host,
    Incident,
    Recommendation,
    Suspect,
)

#: Findings whose lines are shown without being asked for.
_OPEN_EXCERPTS = 2
#: Files that are listed, and suspects that are shown, without being asked for.
_FILES, _SUSPECTS = 12, 5
#: Lines of one file that are closer than this are seen in one excerpt.
_SAME_EXCERPT = 8
#: What of the coverage is a count of its own; the rest is part of a share or of the trace.
_COUNTED = frozenset({"logs", "hosts_with_logs"})
_ONE = {"logs": "log", "hosts_with_logs": "host with logs"}
_NAMES = 8


@dataclass(frozen=True, slots=True)
class Advice:
    """A recommendation with what was decided about it and the command that carries it out.

    `host` is the one that was decided to be isolated.
    """

    recommendation: Recommendation
    decision: Decision | None
    earlier: Sequence[Decision]
    commands: Mapping[str, str]
    host: Host | None = None


@dataclass(frozen=True, slots=True)
class Evidenced:
    """A finding; `line` where it leads to one in stored evidence, `stack` the calls it names."""

    finding: Finding
    line: int | None
    stack: Sequence[str]
    opened: bool


@dataclass(frozen=True, slots=True)
class Accused:
    """A suspect with what speaks for and against it."""

    suspect: Suspect
    speaks_for: Sequence[Evidenced]
    speaks_against: Sequence[Evidenced]


@dataclass(frozen=True, slots=True)
class Proof:
    """Suspects worth a look; further ones and victims, which are folded away."""

    suspects: Sequence[Accused] = ()
    further: Sequence[Accused] = ()
    victims: Sequence[Accused] = ()


@dataclass(frozen=True, slots=True)
class Coverage:
    """On what the answer rests: counts in words, and what was missing."""

    counts: Sequence[str] = ()
    notes: Sequence[str] = field(default=())


def advice_of(answer: Diagnosis, incident: Incident) -> Sequence[Advice]:
    """The recommendations, each with the commands for the job's own scheduler first."""
    hosts = {host.normalised_name: host for host in incident.hosts.all()}
    return [_advice(one, incident, hosts) for one in answer.recommendations.all()]


def _advice(
    recommendation: Recommendation, incident: Incident, hosts: Mapping[str, Host]
) -> Advice:
    decisions = list(recommendation.decisions.all())
    standing = next((one for one in decisions if one.standing), None)
    action, host = recommendation.action, recommendation.target_host
    if standing is not None and standing.changed_action:
        action, host = standing.changed_action, standing.changed_target or host
    commands = commands_for(action, host=host, reference=incident.reference)
    scheduler = incident.job.source.lower() if incident.job else ""
    if scheduler in commands:
        commands = {scheduler: commands[scheduler]}
    if standing is not None and standing.kind == "reject":
        commands = {}
    earlier = [one for one in decisions if not one.standing]
    isolated = hosts.get(normalise_host(host)) if commands and standing is not None else None
    return Advice(recommendation, standing, earlier, commands, isolated)


def proof_of(answer: Diagnosis) -> Proof:
    """The suspects in their order; the lines behind the first findings are opened."""
    opened = _opened(answer)
    accused = [_accused(one, opened) for one in answer.suspects.all()]
    victims = [one for one in accused if one.suspect.role == SuspectRole.VICTIM]
    others = [one for one in accused if one.suspect.role != SuspectRole.VICTIM]
    return Proof(others[:_SUSPECTS], others[_SUSPECTS:], victims)


def _opened(answer: Diagnosis) -> frozenset[int]:
    """The first suspect's first findings that lead to lines, none of which shows another's."""
    first = next(iter(answer.suspects.all()), None)
    chosen: list[tuple[int, int | None, int]] = []
    for one in first.findings.all() if first else ():
        line = _line(one)
        near = any(
            file == one.evidence_id and abs(line - other) <= _SAME_EXCERPT
            for _, file, other in chosen
            if line is not None
        )
        if line is not None and not near:
            chosen.append((one.pk, one.evidence_id, line))
    return frozenset(pk for pk, _, _ in chosen[:_OPEN_EXCERPTS])


def _accused(suspect: Suspect, opened: frozenset[int]) -> Accused:
    findings = [
        Evidenced(one, _line(one), _stack(one), one.pk in opened) for one in suspect.findings.all()
    ]
    return Accused(
        suspect,
        speaks_for=[one for one in findings if not one.finding.speaks_against],
        speaks_against=[one for one in findings if one.finding.speaks_against],
    )


def _line(finding: Finding) -> int | None:
    line = (finding.locator or {}).get("line")
    return line if isinstance(line, int) and finding.evidence_id else None


def _stack(finding: Finding) -> Sequence[str]:
    frames = (finding.locator or {}).get("frames")
    return [str(frame) for frame in frames] if isinstance(frames, list) else []


def coverage_of(coverage: Mapping[str, object]) -> Coverage:
    """`{"ranks": {"expected": 8, "reported": 7}, "logs": 3}` as `7 of 8 ranks`, `3 logs`."""
    counts, notes = [], []
    for name, value in coverage.items():
        words = name.replace("_", " ")
        if isinstance(value, Mapping):
            if value.get("expected"):
                counts.append(f"{value.get('reported', 0):,} of {value['expected']:,} {words}")
        elif isinstance(value, list) and name == "notes":
            notes += [str(note) for note in value]
        elif isinstance(value, list) and name == "kinds":
            counts.append("from " + " and ".join(str(kind).replace("-", " ") for kind in value))
        elif isinstance(value, list) and value:
            shown = ", ".join(str(item) for item in value[:_NAMES])
            notes.append(f"{words}: {shown}{', …' if len(value) > _NAMES else ''}")
        elif isinstance(value, int) and value and name in _COUNTED:
            counts.append(f"{value:,} {_ONE.get(name, words) if value == 1 else words}")
    return Coverage(counts, notes)


def similar_to(incident: Incident, answer: Diagnosis) -> Sequence[Incident]:
    """A few other incidents with the same fault at the top."""
    first = next(iter(answer.suspects.all()), None)
    if first is None or not first.fault:
        return []
    return list(selectors.similar_incidents(incident, first.fault)[:3])


def first_to_see(evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """A few files, those that could not be read before the others."""
    return sorted(evidence, key=lambda one: one.parse_status != ParseStatus.SKIPPED)[:_FILES]
