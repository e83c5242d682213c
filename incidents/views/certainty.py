"""How sure an answer is, and of what: a number without its subject misleads."""

from collections.abc import Mapping

from incidents.choices import SuspectRole, VerdictClass
from incidents.models import Diagnosis

#: The class beside the status: whether the cause is known, in words that bear the number beside.
CHIPS: Mapping[str, str] = {
    VerdictClass.DISTRIBUTED: "cause not in evidence",
    VerdictClass.UNKNOWN: "cause not known",
}

#: What the probability is of, by class, where a suspect leads; `{it}` is the suspect.
_OF_A_SUSPECT: Mapping[str, str] = {
    VerdictClass.CRITICAL: "{it} is the cause",
    VerdictClass.DEGRADATION: "{it} is what slows it down",
    VerdictClass.CONFIG: "the cause is the configuration",
    VerdictClass.USER: "the cause is the job's own code",
    VerdictClass.STORAGE: "the cause is the shared storage",
    VerdictClass.DISTRIBUTED: "{it} is where it stopped; why is not in this evidence",
    VerdictClass.UNKNOWN: "{it} is where it broke; why is not in this evidence",
}
_OF_NOBODY: Mapping[str, str] = {
    VerdictClass.HEALTHY: "nothing here is broken",
    VerdictClass.CONFIG: "the cause is the configuration",
    VerdictClass.USER: "the cause is the job's own code",
    VerdictClass.STORAGE: "the cause is the shared storage",
    VerdictClass.DEGRADATION: "something slows it down; what is not in this evidence",
}


def chip_of(verdict_class: str) -> str:
    """The class as a chip says it."""
    return CHIPS.get(verdict_class, VerdictClass(verdict_class).label.lower())


def certain_of(answer: Diagnosis) -> str:
    """What the answer's confidence is the probability of, as the end of `98 %: …`."""
    suspects = [one for one in answer.suspects.all() if one.role != SuspectRole.VICTIM]
    if not suspects:
        return _OF_NOBODY.get(answer.verdict_class, "the cause is not in this evidence")
    first, *others = suspects
    also = sum(one.role == SuspectRole.CULPRIT for one in others)
    it = f"{first.target_label}{f' (and {also} more)' if also else ''}"
    said = _OF_A_SUSPECT.get(answer.verdict_class, "{it} is the likeliest part")
    return said.format(it=it)
