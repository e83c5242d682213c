"""The ladder for one job: rungs in order, each leaving a line of trace, the first answer wins."""

from collections.abc import Callable
from dataclasses import replace

from diagnosis.core.words import SignatureClass
from diagnosis.triage.aside import with_asides
from diagnosis.triage.called_off import judge_called_off
from diagnosis.triage.case import Case
from diagnosis.triage.connections import judge_connections
from diagnosis.triage.critical import judge_critical
from diagnosis.triage.departures import judge_departed
from diagnosis.triage.distributed import (
    judge_few_hosts,
    judge_named,
    judge_rest,
)
from diagnosis.triage.outcome import Outcome
from diagnosis.triage.quiet import judge_degradation, judge_exits, judge_nothing, tells_exit
from diagnosis.triage.sifting import sift
from diagnosis.triage.software import judge_software
from diagnosis.triage.standing import judge_states, with_states
from diagnosis.triage.standstill import judge_mismatch, judge_silent, judge_silent_host
from diagnosis.triage.suppressed import mentioned, told
from diagnosis.triage.window import described

_Rung = tuple[str, Callable[[], Outcome | None]]


def climb(case: Case, job: str | None) -> Outcome:
    """The outcome for one job's case, with the trace of every rung taken or passed over."""
    sifted = sift(case)
    trace = [described(case), *told(case.silenced), *case.escalated, *sifted.trace]
    for passed_over, rung in _rungs(sifted.case, job):
        outcome = rung()
        if outcome is not None:
            outcome = with_states(outcome, sifted.case)
            outcome = mentioned(with_asides(outcome, sifted.case), case.silenced)
            return replace(outcome, trace=(*trace, *outcome.trace))
        trace.append(passed_over)
    outcome = mentioned(with_asides(judge_nothing(sifted.case), sifted.case), case.silenced)
    return replace(outcome, trace=(*trace, *outcome.trace))


def _rungs(case: Case, job: str | None) -> list[_Rung]:
    return [
        (
            "no notice that calls the job off before all that failed",
            lambda: judge_called_off(case, job),
        ),
        ("no critical finding that asks for action", lambda: judge_critical(case, job)),
        (
            "no user, configuration or storage finding before the first distributed one",
            lambda: judge_software(case),
        ),
        ("no call that differs between ranks", lambda: judge_mismatch(case)),
        ("nobody is named as lost by a coordinator", lambda: judge_named(case, job)),
        ("no failed connection between two ends", lambda: judge_connections(case, job)),
        (
            "not the case of few reporting hosts in a large job whose every log is here",
            lambda: judge_few_hosts(case, job),
        ),
        ("no rank left before the others failed", lambda: judge_departed(case, job)),
        ("no rank is silent while the others wait", lambda: judge_silent(case, job)),
        ("no GPU's sheet qualifies it for return", lambda: judge_states(case, job, broken=True)),
        ("no host fell silent before the others failed", lambda: judge_silent_host(case, job)),
        ("no critical finding to watch", lambda: _watched(case, job)),
        ("no other distributed finding", lambda: _fan_out(case, job)),
        ("no GPU's sheet asks for a reset", lambda: judge_states(case, job)),
        ("no sign of degradation", lambda: judge_degradation(case)),
        (
            "no user, configuration or storage finding after it either",
            lambda: judge_software(case, late=True),
        ),
        ("no rank is reported to have ended", lambda: judge_exits(case, job)),
        (
            "no summary that tells a cause",
            lambda: judge_software(case, late=True, consequences=True),
        ),
    ]


def _watched(case: Case, job: str | None) -> Outcome | None:
    if case.of(SignatureClass.DISTRIBUTED):
        return None
    return judge_critical(case, job, also_idle=True)


def _fan_out(case: Case, job: str | None) -> Outcome | None:
    clues = case.of(SignatureClass.DISTRIBUTED)
    if clues:
        return judge_rest(case, clues, job)
    late = case.of(SignatureClass.DISTRIBUTED, follow_on=True)
    symptoms = [clue for clue in late if not tells_exit(clue)]
    return judge_rest(case, symptoms, job) if symptoms else None
