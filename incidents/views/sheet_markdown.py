"""The one-page report of an incident as Markdown. What evidence says is quoted, never markup."""

import re
from collections.abc import Iterator
from datetime import datetime

from incidents.choices import IncidentKind, Outcome
from incidents.models import Decision, Event, Finding
from incidents.selectors import Aftermath
from incidents.templatetags.ui import score
from incidents.views.incident_parts import Advice
from incidents.views.sheet_contents import Blamed, Sheet

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|!~&@])")
_TICKS = re.compile(r"`+")
#: What makes a line a list, a rule or the title of the line above it.
_BLOCK = re.compile(r"^([0-9]*)([-+=.)])")


def markdown(sheet: Sheet, *, address: str, now: datetime) -> str:
    """The whole report; `address` leads back to the incident."""
    return "\n".join(_lines(sheet, address, now)) + "\n"


def plain(text: str) -> str:
    """A text of people or evidence that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """A text as a code span, whatever backticks it holds (CommonMark 6.1)."""
    text = " ".join(text.split())
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def quoted(text: str) -> Iterator[str]:
    """A text of several lines as a quotation that Markdown shows as it was written."""
    for line in text.strip().splitlines():
        yield "> " + _BLOCK.sub(r"\1\\\2", plain(line))


def _lines(sheet: Sheet, address: str, now: datetime) -> Iterator[str]:
    yield f"# {sheet.incident.reference}: {plain(sheet.incident.title)}"
    yield from ("", *_answer(sheet), "")
    yield from (f"- {name}: {value}" for name, value in _facts(sheet))
    for title, part in (
        ("Suspects", [line for one in sheet.blamed for line in _suspect(one)]),
        ("Recommended and decided", [line for one in sheet.advice for line in _advice(one)]),
        ("How it ended", list(_ended(sheet))),
        ("Notes", [line for one in sheet.notes for line in _note(one)]),
        ("Limits of this answer", [f"- {plain(note)}" for note in sheet.coverage.notes]),
        ("Evidence", _files(sheet)),
    ):
        if part:
            yield from ("", f"## {title}", "", *part)
    yield ""
    yield f"From Aegis, {_time(now)}{_engine(sheet)}: <{address}>"


def _answer(sheet: Sheet) -> Iterator[str]:
    if sheet.answer is None:
        yield "No diagnosis has finished yet."
        return
    sure = score(sheet.answer.confidence)
    yield f"**{plain(sheet.answer.summary)}**"
    yield ""
    yield plain("; ".join([f"{sure}: {sheet.certain_of}", *sheet.coverage.told])) + "."


def _engine(sheet: Sheet) -> str:
    if sheet.answer is None:
        return ""
    rules = code(sheet.answer.taxonomy_version)
    return f", engine {plain(sheet.answer.engine_version)}, rules {rules}"


def _facts(sheet: Sheet) -> Iterator[tuple[str, str]]:
    incident, job = sheet.incident, sheet.incident.job
    ended = f": {incident.get_resolution_display().lower()}" if incident.resolution else ""
    yield "Status", f"{incident.get_status_display()}{ended}"
    yield "Kind", f"{incident.get_kind_display()}, {incident.get_severity_display().lower()}"
    yield "Began", _time(incident.began_at)
    yield "Cluster", plain(str(incident.cluster))
    if job is not None:
        attempt = f", attempt {incident.attempt.number}" if incident.attempt else ""
        owner = f", of {plain(job.owner)}" if job.owner else ""
        yield "Job", f"{plain(str(job))} ({code(job.external_id)}){attempt}{owner}"
    if incident.gpu_count:
        hours = f"{incident.gpu_hours_lost:,.1f} GPU-hours"
        slow = incident.kind == IncidentKind.DEGRADATION
        gpus = f"{incident.gpu_count:,} GPU{'' if incident.gpu_count == 1 else 's'}"
        yield "Lost", f"{hours}, the work of {gpus}" if slow else f"{hours} on {gpus}"
    elif incident.loss_is_unknown:
        yield "Lost", "not known"
    if sheet.aftermath is not None:
        yield "After it", _after(sheet.aftermath)


def _after(after: Aftermath) -> str:
    hosts = ", ".join(code(host.name) for host in after.left_out)
    without = f" without {hosts}" if hosts else ""
    further = {True: "got further", False: "broke earlier", None: "runs"}[after.passed]
    if after.stopped_by is not None:
        halted = "stands still" if after.stopped_by.is_open else "stood still"
        further = f"{further}, then {halted}" if after.passed else halted
        further += f" ({after.stopped_by.reference})"
    return f"attempt {after.attempt.number}{without} {further}"


def _suspect(one: Blamed) -> Iterator[str]:
    suspect = one.suspect
    told = f"{suspect.get_role_display().lower()}, {score(suspect.score)}"
    more = [code(part) for part in (suspect.fault, one.gpu_uuid) if part]
    named = f"{suspect.position}. **{plain(suspect.target_label)}** ({told})"
    yield ", ".join([named, *more])
    for finding in one.findings:
        sign = "against" if finding.speaks_against else "for"
        yield f"   - {sign}: {code(finding.text)}{_source(finding)}"


def _source(finding: Finding) -> str:
    line = (finding.locator or {}).get("line")
    where = f"{finding.evidence_name}{f':{line}' if line else ''}"
    when = _time(finding.at) if finding.at else finding.time_text
    told = [part for part in (plain(when), code(where) if where else "") if part]
    return f" ({', '.join(told)})" if told else ""


def _advice(one: Advice) -> Iterator[str]:
    yield f"- {plain(str(one.recommendation))}: {plain(one.recommendation.reason)}"
    decision = one.decision
    if decision is not None:
        yield f"  - {_decision(decision)}"
    for command in one.commands.values():
        yield f"  - {code(command)}"


def _decision(decision: Decision) -> str:
    why = f": “{plain(decision.reason)}”" if decision.reason else ""
    outcome = decision.get_outcome_display().lower()
    came = "" if decision.outcome == Outcome.PENDING else f"; {outcome}"
    when = _time(decision.decided_at)
    return f"{decision.get_kind_display()} by {plain(decision.actor)}, {when}{why}{came}"


def _ended(sheet: Sheet) -> Iterator[str]:
    incident = sheet.incident
    if not incident.resolution:
        return
    who = f", by {plain(sheet.ended.actor)}" if sheet.ended else ""
    when = f", {_time(incident.resolved_at)}" if incident.resolved_at else ""
    yield f"{incident.get_resolution_display()}{who}{when}."
    if incident.resolution_note:
        yield from ("", *quoted(incident.resolution_note))


def _note(event: Event) -> Iterator[str]:
    yield f"- {_time(event.time)}, {plain(event.actor)}:"
    yield ""
    yield from (f"  {line}" for line in quoted(event.text))


def _files(sheet: Sheet) -> list[str]:
    rows = [f"- {code(one.name)}, SHA-256 {code(one.blob.sha256)}" for one in sheet.files]
    if sheet.further_files:
        rows.append(f"- and {sheet.further_files} more")
    return rows


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
