"""What the incident's page shows of an answer, in the order in which people ask."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings

from incidents.choices import ExecutionState, Outcome, ParseStatus, SuspectRole
from incidents.commands import commands_for
from incidents.excerpts import Excerpt
from incidents.hostnames import normalise_host
from incidents.models import (
    Decision,
    Diagnosis,
    Evidence,
    Execution,
    Finding,
    Host,
    Incident,
    Recommendation,
    Suspect,
)
from incidents.selectors import RuleRecord
from incidents.services.blast_radius import question_before
from incidents.services.executions import scheduler_of
from incidents.views.near_lines import address_of_lines, lines_at_once
from incidents.views.track_record import track_records

#: Findings whose lines are shown without being asked for.
_OPEN_EXCERPTS = 2
#: Files that are listed, and suspects that are shown, without being asked for.
_FILES, _SUSPECTS = 12, 5
#: Lines of one file that are closer than this are seen in one excerpt.
_SAME_EXCERPT = 8


@dataclass(frozen=True, slots=True)
class Advice:
    """A recommendation with what was decided about it and the command that carries it out.

    `host` is the one that was decided to be isolated; `execution` the command that an executor
    plans or ran for it, `asks_again` why it takes a second word; `lacks_executor` where one is on,
    though not that of the job's scheduler. `may_take_back` until something came of the decision.
    """

    recommendation: Recommendation
    decision: Decision | None
    earlier: Sequence[Decision]
    commands: Mapping[str, str]
    host: Host | None = None
    execution: Execution | None = None
    may_run: bool = False
    lacks_executor: bool = False
    asks_again: str = ""
    may_take_back: bool = False


@dataclass(frozen=True, slots=True)
class Evidenced:
    """A finding; `line` where it leads to one in stored evidence, `stack` the calls it names.

    `address` gives the lines around it, `excerpt` are those that are shown from the start.
    """

    finding: Finding
    line: int | None
    stack: Sequence[str]
    opened: bool
    address: str
    excerpt: Excerpt | None = None


@dataclass(frozen=True, slots=True)
class Accused:
    """A suspect with what speaks for and against it, and how often those rules were right."""

    suspect: Suspect
    speaks_for: Sequence[Evidenced]
    speaks_against: Sequence[Evidenced]
    records: Sequence[RuleRecord] = ()

    @property
    def told(self) -> Sequence[RuleRecord]:
        """The records of rules on which other incidents were decided."""
        return [one for one in self.records if one.precision.decided]


@dataclass(frozen=True, slots=True)
class Proof:
    """Suspects worth a look; further ones and victims, which are folded away."""

    suspects: Sequence[Accused] = ()
    further: Sequence[Accused] = ()
    victims: Sequence[Accused] = ()


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
    execution = getattr(recommendation, "execution", None)
    scheduled = scheduler_of(incident) is not None
    planned = execution is not None and execution.state == ExecutionState.PLANNED
    return Advice(
        recommendation,
        standing,
        earlier,
        commands,
        isolated,
        execution=execution,
        may_run=isolated is not None and scheduled,
        lacks_executor=bool(settings.EXECUTORS) and not scheduled,
        asks_again=question_before(incident.cluster, host) if planned else "",
        may_take_back=standing is not None
        and standing.outcome == Outcome.PENDING
        and (execution is None or planned),
    )


def proof_of(answer: Diagnosis) -> Proof:
    """The suspects in their order; the lines behind the first findings are opened."""
    opened, suspects = _opened(answer), list(answer.suspects.all())
    records = track_records(suspects, incident=answer.incident_id)
    accused = [_accused(one, opened, records[one.pk]) for one in suspects]
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


def _accused(suspect: Suspect, opened: frozenset[int], records: Sequence[RuleRecord]) -> Accused:
    findings = [_evidenced(one, one.pk in opened) for one in suspect.findings.all()]
    return Accused(
        suspect,
        speaks_for=[one for one in findings if not one.finding.speaks_against],
        speaks_against=[one for one in findings if one.finding.speaks_against],
        records=records,
    )


def _evidenced(finding: Finding, opened: bool) -> Evidenced:
    line = _line(finding)
    shown = lines_at_once(finding, line) if opened and line is not None else None
    address = "" if line is None else address_of_lines(finding)
    return Evidenced(finding, line, _stack(finding), opened, address, shown)


def _line(finding: Finding) -> int | None:
    line = (finding.locator or {}).get("line")
    return line if isinstance(line, int) and finding.evidence_id else None


def _stack(finding: Finding) -> Sequence[str]:
    frames = (finding.locator or {}).get("frames")
    return [str(frame) for frame in frames] if isinstance(frames, list) else []


def first_to_see(evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """A few files, those that could not be read before the others."""
    return sorted(evidence, key=lambda one: one.parse_status != ParseStatus.SKIPPED)[:_FILES]
