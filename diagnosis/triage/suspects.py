"""From clues to suspects, recommendations and sentences."""

from collections.abc import Iterable, Sequence

from diagnosis.core.diagnosis import Finding, Recommendation, Suspect
from diagnosis.core.target import Target
from diagnosis.core.words import Action, Role, SignatureClass, TargetKind
from diagnosis.taxonomy.signature import Implicates
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
    return part_target(clue.signature.implicates, clue.place)


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
        name = f"{host or f'rank {rank}'} GPU {place.gpu}" if place.gpu else host
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
    if target.kind is TargetKind.GPU:
        return (
            f"{where or 'an unnamed host'} GPU {target.gpu}"
            if target.gpu
            else f"the GPU of {where or 'an unnamed rank'}"
        )
    if target.kind in {TargetKind.LINK, TargetKind.SWITCH, TargetKind.NIC}:
        link = target.name or where or "an unnamed link"
        return f"{link} (to {target.peer})" if target.peer else link
    if target.kind in {TargetKind.HOST, TargetKind.RANK}:
        ranked = f" (rank {target.rank})" if target.rank is not None and target.host else ""
        return f"{where or target.name}{ranked}"
    if target.rank is not None:
        return f"rank {target.rank}" + (f" on {target.host}" if target.host else "")
    return target.host or ""


def by_machine(clues: Sequence[Clue]) -> dict[str | None, list[Clue]]:
    """Clues grouped by host, or rank where no host is known; None for those of no place."""
    groups: dict[str | None, list[Clue]] = {}
    for clue in clues:
        groups.setdefault(clue.place.machine, []).append(clue)
    return groups
