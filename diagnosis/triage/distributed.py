"""Rungs 4 and up: only symptoms that fan out. Who is named, who is silent, which link failed."""

import re
from collections import Counter
from collections.abc import Sequence

from diagnosis.core.diagnosis import Recommendation, Suspect
from diagnosis.core.target import normalise_host
from diagnosis.core.words import (
    Action,
    IncidentKind,
    SignatureClass,
    VerdictClass,
)
from diagnosis.taxonomy.signature import Implicates, Severity
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue
from diagnosis.triage.outcome import Outcome
from diagnosis.triage.places import Place
from diagnosis.triage.suspects import (
    advice,
    by_machine,
    job_target,
    part_target,
    shown,
    suspect,
    target_of,
)
from diagnosis.triage.timeline import day_text

_RANK_LIST = re.compile(r"[Rr]anks ([\d, ]+) failed|missing ranks: \{([\d, ]+)\}")

_PARTS = {Implicates.GPU, Implicates.LINK, Implicates.NIC}

#: More hosts than this that are all unwell say nothing about who was first.
MAX_AILING = 4

_TIMEOUT_CODES = {
    "c10d-watchdog-timeout",
    "c10d-watchdog-exception",
    "c10d-dump-signal",
    "gloo-timeout",
}


def judge_named(case: Case, job: str | None) -> Outcome | None:
    """A host or rank that a coordinator (Ray, JAX, MPI, a monitored barrier) names as lost."""
    naming = [
        clue
        for clue in case.of(SignatureClass.DISTRIBUTED)
        if (clue.part("host") or clue.part("rank")) and clue.place.is_known
    ]
    if not naming:
        return None
    named = Counter(clue.place.machine for clue in naming)
    machine, votes = min(named.items(), key=lambda item: (-item[1], str(item[0])))
    clues = [clue for clue in naming if clue.place.machine == machine]
    target = part_target(Implicates.HOST, clues[0].place)
    more = _more_ranks(clues)
    agreed = votes == len(naming)
    score = (0.8 if agreed else 0.5) / (1 + len(more))
    at = day_text(clues[0].moment)
    title = clues[0].signature.title
    summary = (
        f"{title}: {shown(target)}{f' at {at}' if at else ''}; the errors of the others follow. "
        f"Why it went is not in these logs: look at its own log, and restart the job without it."
    )
    watch = Recommendation(Action.WATCH, target, "Its own log says why it went; it was not given.")
    return Outcome(
        cls=VerdictClass.DISTRIBUTED,
        kind=IncidentKind.CRASH,
        summary=summary,
        confidence=score,
        suspects=(
            suspect(target, score, clues),
            *(suspect(case.placement.target_of_rank(rank), score, clues) for rank in more),
        ),
        recommendations=(
            Recommendation(Action.RESTART_JOB, job_target(job), f"{shown(target)} is gone."),
            watch,
        ),
        trace=(f"{len(naming)} lines name who was lost; {votes} of them {shown(target)}",),
    )


def _more_ranks(clues: Sequence[Clue]) -> list[int]:
    """The other ranks of a list that one line names (`Ranks 3, 5 failed to pass …`)."""
    found = _RANK_LIST.search(clues[0].text)
    ranks = [int(number) for number in re.findall(r"\d+", found[1] or found[2])] if found else []
    return [rank for rank in ranks if rank != clues[0].place.rank][:8]


def judge_few_hosts(case: Case, job: str | None) -> Outcome | None:
    """Rung 2 of the paper, made safe: at most two hosts report, and every host's log is here."""
    settings = case.settings
    reporting = {
        normalise_host(clue.place.host)
        for clue in case.of(SignatureClass.DISTRIBUTED)
        if clue.place.host
    }
    codes = {clue.code for clue in case.of(SignatureClass.DISTRIBUTED)}
    placed = {normalise_host(host) for host in case.placement.hosts}
    complete = bool(placed) and placed <= case.log_hosts
    if not (0 < len(reporting) <= settings.distributed_hosts and complete):
        return None
    if len(placed) <= settings.distributed_min_job_hosts or codes & _TIMEOUT_CODES:
        return None
    clues = [c for c in case.of(SignatureClass.DISTRIBUTED) if c.place.host]
    suspects, recommendations = [], []
    for host in sorted(reporting):
        own = [c for c in clues if c.place.host and normalise_host(c.place.host) == host]
        target = part_target(Implicates.HOST, Place(host=own[0].place.host))
        suspects.append(suspect(target, 0.8 / len(reporting), own))
        recommendations += advice(
            Action.ISOLATE_HOST, target, "Of all hosts of the job only this one reports.", job
        )[: 1 if host != max(reporting) else 2]
    names = " and ".join(sorted(reporting))
    return Outcome(
        cls=VerdictClass.DISTRIBUTED,
        kind=IncidentKind.CRASH,
        summary=f"Of {len(placed)} hosts only {names} report errors; isolate and restart the job.",
        confidence=0.8 / len(reporting),
        suspects=tuple(suspects),
        recommendations=tuple(recommendations),
        trace=(f"distributed findings on {len(reporting)} of {len(placed)} hosts: {names}",),
    )


def judge_rest(case: Case, clues: Sequence[Clue], job: str | None) -> Outcome:
    """The fan-out is seen and nothing names its cause."""
    machines = {clue.place.machine for clue in clues if clue.place.machine}
    timeouts = any(clue.code in _TIMEOUT_CODES for clue in clues)
    kinds = ", ".join(sorted({clue.code for clue in clues})[:4])
    what = "collectives timed out" if timeouts else "errors fanned out"
    return Outcome(
        cls=VerdictClass.DISTRIBUTED,
        kind=IncidentKind.HANG if timeouts else IncidentKind.CRASH,
        summary=(
            f"On {len(machines) or 'some'} hosts or ranks {what} ({kinds}), and nothing in these "
            "logs says why: those who report are most likely victims. Hand in collective dumps and "
            "the kernel logs of all hosts."
        ),
        confidence=0.5,
        suspects=tuple(_ailing(case)),
        recommendations=(
            Recommendation(Action.RESTART_JOB, job_target(job), "No cause is in these logs."),
            Recommendation(Action.RUN_OFFLINE, job_target(job), _offline_reason(case)),
        ),
        trace=(
            f"{len(clues)} distributed findings, all symptoms: nobody is named",
            f"hand over to offline diagnosis: {_offline_reason(case)}",
        ),
    )


def _offline_reason(case: Case) -> str:
    """Why, and on which hosts: the job's, for those who complain are not the ones to test first."""
    hosts = [*case.placement.hosts] or sorted(case.log_hosts)
    shown_hosts = ", ".join(hosts[:8]) + (", ..." if len(hosts) > 8 else "")
    where = f"the {len(hosts)} hosts of the job ({shown_hosts})" if hosts else "the job's hosts"
    return (
        "Every rank that speaks waits for another, so the logs leave no one out: self-check and "
        f"split {where} until the bad part is found."
    )


def _ailing(case: Case) -> list[Suspect]:
    """Hosts whose own log shows that something is not well: possible, no more."""
    ailing = [
        clue
        for clue in case.of(SignatureClass.CRITICAL, SignatureClass.DEGRADATION)
        if clue.place.is_known and clue.signature.severity.weight >= Severity.MEDIUM.weight
    ]
    ailing += [
        clue
        for clue in case.of(SignatureClass.DISTRIBUTED)
        if clue.place.is_known and clue.signature.implicates in _PARTS and not clue.place.peer
    ]
    groups = sorted(
        by_machine(ailing).values(),
        key=lambda group: max(clue.strength for clue in group),
        reverse=True,
    )
    if len(groups) > MAX_AILING:
        return []
    score = 0.5 / max(1, len(groups))
    return [suspect(target_of(group[0]), score, group) for group in groups[:5]]
