"""A judgement about an operation trace in the contract's shape."""

from diagnosis.core.diagnosis import (
    Conclusion,
    Diagnosis,
    Finding,
    Recommendation,
    Suspect,
    Verdict,
)
from diagnosis.core.operations import OperationTrace
from diagnosis.core.placement import Placement
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass
from diagnosis.degradation.answers import Answer
from diagnosis.degradation.operations import (
    ComputeContrast,
    OperationJudgement,
    SlowdownCause,
    SlowWorker,
)
from diagnosis.readers.operations import read_operations

DETECTOR = "compute-contrast"

_ADVICE = {
    SlowdownCause.STAGE: "Give stage {stage} fewer layers; no worker is at fault.",
    SlowdownCause.SEQUENCES: "Balance sequence lengths over micro-batches; no worker is at fault.",
}


def conclude_operations(
    content: bytes, *, file: str, placement: Placement | None = None
) -> Conclusion:
    """What the trace in these bytes says beside other evidence. Raises `UnreadableEvidence`."""
    trace = read_operations(content)
    found = operations_diagnosis(ComputeContrast()(trace), trace, file=file, placement=placement)
    return Conclusion(
        branch="operations",
        verdict=found.verdict,
        suspects=found.suspects,
        recommendations=found.recommendations,
        trace=found.trace,
        decisive=bool(found.suspects),
    )


def operations_diagnosis(
    judgement: OperationJudgement,
    trace: OperationTrace,
    *,
    file: str,
    placement: Placement | None = None,
) -> Diagnosis:
    """The trace's diagnosis: a slow worker is a suspect, the other causes are the job's own."""
    suspects = tuple(_suspect(judgement, worker, file, placement) for worker in judgement.workers)
    verdict = _verdict(judgement, trace, suspects)
    return Diagnosis(
        verdict=verdict,
        suspects=suspects,
        recommendations=_recommendations(judgement, suspects),
        trace=(
            (
                f"{len(trace.steps)} steps of {trace.ranks.size} workers; slowdown "
                f"{judgement.slowdown:.3f} against equal workers and equal work"
            ),
            verdict.summary,
        ),
        skipped=(),
        taxonomy_version=DETECTOR,
        judged=judgement.answer is not Answer.CANNOT_TELL,
    )


def _verdict(
    judgement: OperationJudgement, trace: OperationTrace, suspects: tuple[Suspect, ...]
) -> Verdict:
    coverage: dict[str, object] = {
        "steps": len(trace.steps),
        "workers": int(trace.ranks.size),
        "cause": judgement.cause.value,
        "slowdown": round(judgement.slowdown, 4),
    }
    if judgement.slowdown > 1:
        coverage["lost_share"] = round(1 - 1 / judgement.slowdown, 4)
    none, unknown, healthy = IncidentKind.NONE, VerdictClass.UNKNOWN, VerdictClass.HEALTHY
    if judgement.answer is Answer.CANNOT_TELL:
        return Verdict(none, unknown, f"Cannot tell: {judgement.reason}.", 0.0, coverage)
    if judgement.cause is SlowdownCause.NONE:
        return Verdict(none, healthy, "Steps are as short as they can be.", 0.9, coverage)
    slower = f"Steps take {judgement.slowdown:.2f} times as long as on equal workers"
    if suspects:
        names = ", ".join(str(suspect.target.name) for suspect in suspects)
        summary = f"{slower}: {names} computes longer than its stage's other workers."
        cls = VerdictClass.DEGRADATION
    else:
        what = (
            f"stage {judgement.stage} is heavier than the others on every replica"
            if judgement.cause is SlowdownCause.STAGE
            else "micro-batches differ in length on every worker"
        )
        summary, cls = f"{slower}: {what}; no worker is at fault.", VerdictClass.USER
    return Verdict(IncidentKind.DEGRADATION, cls, summary, judgement.explained, coverage)


def _suspect(
    judgement: OperationJudgement, worker: SlowWorker, file: str, placement: Placement | None
) -> Suspect:
    target = _target(worker, placement)
    finding = Finding(
        detector=DETECTOR,
        target=target,
        text=(
            f"replica {worker.replica}, stage {worker.stage} computes {worker.ratio:.2f} times as "
            f"long as the median of its stage; {judgement.explained:.0%} of the loss goes with it"
        ),
        evidence=file,
        locator={"dp": worker.replica, "stage": worker.stage, "rank": worker.rank},
    )
    score = min(0.99, 0.5 + judgement.explained / 2)
    role = Role.CULPRIT if score >= 0.8 else Role.POSSIBLE
    return Suspect(target, score, role, SlowdownCause.WORKER.value, (finding,))


def _target(worker: SlowWorker, placement: Placement | None) -> Target:
    """The worker's host where a placement knows its replica and stage, or its rank; else itself."""
    places = placement.places if placement else ()
    laid_out = [p for p in places if (p.dp, p.stage) == (worker.replica, worker.stage)]
    of_rank = placement.by_rank.get(worker.rank) if placement else None
    place = laid_out[0] if laid_out else of_rank
    if place is not None:
        return Target(TargetKind.HOST, place.host, place.host, place.gpu, rank=place.rank)
    name = f"replica {worker.replica} stage {worker.stage}"
    return Target(TargetKind.RANK, name, rank=worker.rank if worker.rank >= 0 else None)


def _recommendations(
    judgement: OperationJudgement, suspects: tuple[Suspect, ...]
) -> tuple[Recommendation, ...]:
    if suspects:
        return tuple(
            Recommendation(Action.ISOLATE_HOST, suspect.target, suspect.findings[0].text)
            for suspect in suspects
        )
    advice = _ADVICE.get(judgement.cause)
    if advice is None:
        return (Recommendation(Action.NONE, Target(TargetKind.NONE), "Nothing to do."),)
    target = Target(TargetKind.USER_CODE, name="the job's code")
    return (Recommendation(Action.FIX_CODE, target, advice.format(stage=judgement.stage)),)
