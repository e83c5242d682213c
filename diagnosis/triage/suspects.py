"""From clues to suspects, recommendations and sentences."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from diagnosis.core.diagnosis import Finding, Recommendation, Suspect
from diagnosis.core.target import Target
from diagnosis.core.words import Action, Role, SignatureClass, TargetKind
from diagnosis.taxonomy.signature import Implicates, Stream
from diagnosis.triage.clues import Clue, as_finding
from diagnosis.triage.places import Place

#: From this score on a suspect counts as culprit (docs/contract.md).
CULPRIT_SCORE = 0.8

#: How many findings a suspect carries; the rest is in the log.
MAX_FINDINGS = 20

_CAUSE_KINDS = {
    SignatureClass.USER: TargetKind.USER_CODE,
    SignatureClass.CONFIG: TargetKind.CONFIG,
    SignatureClass.STORAGE: TargetKind.STORAGE,
}


def target_of(clue: Clue) -> Target:
    """What the clue is about, by its class and by what its signature implicates."""
    kind = _CAUSE_KINDS.get(clue.signature.cls)
    if kind is not None:
        return soft_target(kind, clue)
    implicated = clue.signature.implicates
    target = part_target(implicated, clue.place)
    return target if clue.place.is_known else _by_its_log(target, implicated, clue)


def _by_its_log(target: Target, implicated: Implicates, clue: Clue) -> Target:
    """A part whose host and rank no line tells: named by the log that speaks of it."""
    log = PurePosixPath(clue.evidence).name
    firsthand = clue.signature.stream is not Stream.JOB
    whose = f"the host of {log}" if firsthand else f"a rank in {log}"
    if target.kind is TargetKind.NONE:
        is_host = firsthand and implicated is Implicates.HOST
        return Target(TargetKind.HOST, name=whose) if is_host else target
    device = {TargetKind.GPU: f"GPU {target.gpu}" if target.gpu else "the GPU"}
    return replace(target, name=f"{device.get(target.kind, target.name or 'a link')} of {whose}")


def soft_target(kind: TargetKind, clue: Clue) -> Target:
    """User code, configuration or storage: named by the fault, with where it showed."""
    place = clue.place
    name = clue.signature.title
    if kind is TargetKind.STORAGE:
        name = place.peer or clue.signature.title
    return Target(kind, name=name, host=place.host, gpu=place.gpu, nic=place.nic, rank=place.rank)


def part_target(implicates: Implicates, place: Place) -> Target:
    """The part that a signature implicates, as precisely as the place tells."""
    host, rank = place.host, place.rank
    if implicates is Implicates.GPU:
        where = host or (f"rank {rank}" if rank is not None else "")
        name = f"{where} GPU {place.gpu}".strip() if place.gpu else host
        return Target(TargetKind.GPU, name=name, host=host, gpu=place.gpu, rank=rank)
    if implicates in {Implicates.LINK, Implicates.SWITCH, Implicates.NIC}:
        return _network_target(implicates, place)
    if host is not None:
        return Target(TargetKind.HOST, name=host, host=host, gpu=place.gpu, rank=rank)
    if rank is not None:
        return Target(TargetKind.RANK, name=f"rank {rank}", rank=rank, gpu=place.gpu)
    return Target(TargetKind.NONE)


def _network_target(implicates: Implicates, place: Place) -> Target:
    device = place.nic or place.link or (f"nvlink of {place.gpu}" if place.gpu else None)
    name = "/".join(part for part in (place.host, device) if part) or None
    kinds = {
        Implicates.LINK: TargetKind.LINK,
        Implicates.SWITCH: TargetKind.SWITCH,
        Implicates.NIC: TargetKind.NIC,
    }
    return Target(
        kinds[implicates],
        name=name,
        host=place.host,
        gpu=place.gpu,
        nic=place.nic,
        rank=place.rank,
        peer=place.peer,
    )


def suspect(
    target: Target,
    score: float,
    clues: Iterable[Clue],
    *,
    fault: str | None = None,
    against: Iterable[Clue] = (),
    role: Role | None = None,
) -> Suspect:
    """A suspect with its findings; the role follows from the score unless it is given."""
    speaking = list(clues)
    findings: list[Finding] = [as_finding(clue, target) for clue in speaking]
    findings += [as_finding(clue, target_of(clue), weight=-0.5) for clue in against]
    known = role or (Role.CULPRIT if score >= CULPRIT_SCORE else Role.POSSIBLE)
    code = fault or (speaking[0].code if speaking else None)
    return Suspect(target, score, known, code, tuple(findings[:MAX_FINDINGS]))


def advice(action: Action, target: Target, reason: str, job: str | None) -> list[Recommendation]:
    """What to do, and to restart the job where that is part of it."""
    chosen = [Recommendation(action, _acted_on(action, target, job), reason)]
    if action in {Action.ISOLATE_HOST, Action.RESET_GPU, Action.CHECK_LINK, Action.FIX_STORAGE}:
        again = "The job can go on once this is out of its way."
        chosen.append(Recommendation(Action.RESTART_JOB, job_target(job), again))
    return chosen


def _acted_on(action: Action, target: Target, job: str | None) -> Target:
    if action is Action.ISOLATE_HOST and target.host:
        return Target(TargetKind.HOST, name=target.host, host=target.host)
    if action is Action.RESTART_JOB:
        return job_target(job)
    return target


def job_target(job: str | None) -> Target:
    return Target(TargetKind.JOB, name=f"job {job}" if job else "the job")


def shown(target: Target) -> str:
    """The target in a sentence."""
    where = target.host or (f"rank {target.rank}" if target.rank is not None else None)
    if where is None:
        name = "" if target.kind in _CAUSE_KINDS.values() else target.name or ""
        return f"{name} (to {target.peer})" if name and target.peer else name
    if target.kind is TargetKind.GPU:
        return f"{where} GPU {target.gpu}" if target.gpu else f"the GPU of {where}"
    if target.kind in {TargetKind.LINK, TargetKind.SWITCH, TargetKind.NIC}:
        link = target.name or where
        return f"{link} (to {target.peer})" if target.peer else link
    if target.kind in {TargetKind.HOST, TargetKind.RANK}:
        ranked = f" (rank {target.rank})" if target.rank is not None and target.host else ""
        return f"{where}{ranked}"
    if target.rank is not None:
        return f"rank {target.rank}" + (f" on {target.host}" if target.host else "")
    return where


def by_machine(clues: Sequence[Clue]) -> dict[str | None, list[Clue]]:
    """Clues grouped by host, or rank where no host is known; None for those of no place."""
    groups: dict[str | None, list[Clue]] = {}
    for clue in clues:
        groups.setdefault(clue.place.machine, []).append(clue)
    return groups
