"""A verdict of the delivery check as a diagnosis, in the contract's shapes."""

from collections.abc import Sequence

from diagnosis.checks.suite import Blame, Suite
from diagnosis.checks.verdict import HostVerdict, Reason, Status
from diagnosis.core.diagnosis import Diagnosis, Finding, Recommendation, Suspect, Verdict
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass

DETECTOR = "delivery-check"

#: The worst first.
_CLASSES = {
    Blame.CRITICAL: VerdictClass.CRITICAL,
    Blame.DEGRADATION: VerdictClass.DEGRADATION,
    Blame.CONFIG: VerdictClass.CONFIG,
}
#: An item was measured against its peers and, where it may stray, a second time.
_SURE = 0.95


def answer_of_host(verdict: HostVerdict, suite: Suite) -> Diagnosis:
    """What a held host's failed items say: the worst of them gives the class."""
    failed = [one for one in verdict.against if one.status == Status.FAILED and not one.mass]
    host = Target(TargetKind.HOST, name=verdict.host, host=verdict.host)
    findings = tuple(Finding(DETECTOR, host, one.text, None, _locator(one)) for one in failed)
    blame = next(one for one in _CLASSES if one in {reason.blame for reason in failed})
    is_config = blame == Blame.CONFIG
    action = Action.FIX_CONFIG if is_config else Action.ISOLATE_HOST
    what = "Set it right" if is_config else "Keep it out and have it repaired"
    advice = Recommendation(
        action, host, f"{what}, then check it again: it returns by passing. {failed[0].text}"
    )
    text = f"{verdict.host} failed {len(failed)} of {len(verdict.reasons)} items: {failed[0].text}"
    coverage = {
        "suite": suite.code,
        "items": len(verdict.reasons),
        "failed": len(failed),
        "untold": len(verdict.against) - len(failed),
    }
    return Diagnosis(
        Verdict(IncidentKind.CHECK, _CLASSES[blame], text, _SURE, coverage),
        (Suspect(host, _SURE, Role.CULPRIT, None, findings),),
        (advice,),
        tuple(f"{one.item}: {one.status}: {one.text}" for one in verdict.reasons),
        (),
        "",
    )


def answer_of_batch(
    items: Sequence[str], verdicts: Sequence[HostVerdict], suite: Suite
) -> Diagnosis:
    """What a batch that fails as a whole says: not its hosts, but what they have in common."""
    titles = [suite.item(code).title for code in items]
    hit = [one for one in verdicts if any(reason.mass for reason in one.reasons)]
    batch = Target(TargetKind.CONFIG, name="last update")
    first = next(reason for one in hit for reason in one.reasons if reason.mass)
    text = (
        f"{', '.join(titles)} failed on {len(hit)} of {len(verdicts)} hosts at once: suspect what "
        "they have in common, such as the last update."
    )
    finding = Finding(DETECTOR, batch, first.text, None, _locator(first))
    reason = "Roll the last update back and check the hosts again; no single host is at fault."
    coverage = {"suite": suite.code, "hosts": len(verdicts), "hosts_failed": len(hit)}
    return Diagnosis(
        Verdict(IncidentKind.CHECK, VerdictClass.CONFIG, text, 0.8, coverage),
        (Suspect(batch, 0.8, Role.CULPRIT, None, (finding,)),),
        (Recommendation(Action.ROLL_BACK, batch, reason),),
        tuple(f"{code}: failed on {len(hit)} of {len(verdicts)} hosts" for code in items),
        (),
        "",
    )


def _locator(reason: Reason) -> dict[str, object]:
    told = {"item": reason.item, "value": reason.value, "peers": reason.peers}
    return {**told, "criterion": reason.criterion, "device": reason.device}
