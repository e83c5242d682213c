"""What is left out before judging: other days' events, links that came back, echoes of a cause."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from diagnosis.core.target import normalise_host
from diagnosis.core.words import Action, SignatureClass
from diagnosis.taxonomy.signature import Severity, Stream
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue, Moment, is_before
from diagnosis.triage.places import Place, pci_key
from diagnosis.triage.settings import TriageSettings
from diagnosis.triage.window import OF_THE_JOB, failing, window_of

#: Event → the event that takes it back on the same part.
TAKEN_BACK_BY = {
    "nfs-not-responding": ("nfs-ok",),
    "lustre-lost": ("lustre-restored",),
    "mlx5-link-down": ("mlx5-link-up", "nic-link-up"),
    "nic-link-down": ("nic-link-up", "mlx5-link-up"),
    "bond-slave-down": ("bond-recovered",),
    "slurm-node-not-responding": ("slurm-node-back",),
    "slurm-node-slow": ("slurm-node-back",),
    "k8s-node-not-ready": ("k8s-node-ready",),
    "k8s-unschedulable": ("k8s-scheduled",),
}

#: A driver, library or fabric manager that does not fit, and what it leaves behind.
_MISFITS = {"driver-library-mismatch", "driver-api-mismatch", "fm-not-started", "fm-service-failed"}
_NOT_STARTED = {"gpu-none-found", "gpu-rm-init-failed", "gpu-probe-failed", "nvls-bind-failed"}
#: What hardware corrects all the time: only its rate tells.
CORRECTED = {"mem-ecc-corrected", "pcie-aer-corrected", "cpu-mce-logged", "amdgpu-ras-ce"}
_NETWORK = {"nic", "network", "optics", "switch"}
_OF_A_HOST = {Stream.KERNEL, Stream.SYSTEM, Stream.BMC}


@dataclass(frozen=True)
class Sifted:
    """The case with what is left to judge, and a line of trace for each kind of thing left out."""

    case: Case
    trace: tuple[str, ...]


def sift(case: Case) -> Sifted:
    """Leave out what cannot be the cause. Nothing is lost: the trace says what and why."""
    trace: list[str] = []
    for reason, is_out in (
        ("on hosts that are not the job's", _not_of_the_job(case)),
        ("outside the window", _outside_window(case)),
        ("taken back soon after, with nothing failing", _taken_back(case)),
        ("link training at boot", _at_boot(case)),
        ("corrected by the hardware, too few to mean anything", _corrected(case)),
        ("the echo of an application's exception on the same GPU", _echo(case)),
        ("what a driver or fabric manager of another version explains", _by_driver(case)),
        ("Xid 45 is the tear-down after another event on the host", _teardown(case)),
    ):
        out = [clue for clue in case.clues if is_out(clue)]
        if out:
            codes = ", ".join(sorted({clue.code for clue in out}))
            trace.append(f"left out, {reason}: {sum(clue.count for clue in out)} lines ({codes})")
            left = tuple(clue for clue in case.clues if not is_out(clue))
            case = replace(case, clues=left)
    return Sifted(replace(case, clues=tuple(_gathered(case.clues))), tuple(trace))


def _not_of_the_job(case: Case) -> Callable[[Clue], bool]:
    """Host logs of hosts that the placement does not name (switches have no place in it)."""
    placed = {normalise_host(host) for host in case.placement.hosts}

    def is_foreign(clue: Clue) -> bool:
        if not placed or clue.signature.stream not in _OF_A_HOST or not clue.place.host:
            return False
        return normalise_host(clue.place.host) not in placed

    return is_foreign


def _outside_window(case: Case) -> Callable[[Clue], bool]:
    window, is_stale = window_of(case), _stale(case)
    if window is None:
        return is_stale
    start, end = window
    zoned = any(c.moment.zoned for c in failing(case) if c.moment)

    def is_outside(clue: Clue) -> bool:
        if clue.signature.stream in OF_THE_JOB or clue.moment is None:
            return False
        if clue.moment.scale != "utc":
            return is_stale(clue)
        doubt = 0.0 if zoned and clue.moment.zoned else case.settings.zone_doubt
        last = clue.last.time if clue.last and clue.last.scale == "utc" else clue.moment.time
        return last < start - doubt or clue.moment.time > end + doubt

    return is_outside


def _stale(case: Case) -> Callable[[Clue], bool]:
    """Faults of hosts long before the last that is told, where the job fails by its own code.

    It tells no time of its own; hosts that went on so long did not fail it then.
    """
    if not _has_own_fault(failing(case)):
        return lambda clue: False
    last: dict[str, float] = {}
    for moment in case.last_words.values():
        last[moment.scale] = max(moment.time, last.get(moment.scale, moment.time))

    def is_stale(clue: Clue) -> bool:
        latest = clue.last or clue.moment
        if clue.signature.stream in OF_THE_JOB or latest is None:
            return False
        end = case.last_words.get(clue.log) if latest.scale.startswith("uptime") else None
        at = end.time if end else last.get(latest.scale, latest.time)
        return at - latest.time > case.settings.stale

    return is_stale


def _taken_back(case: Case) -> Callable[[Clue], bool]:
    by_its_code, start = _fails_by_its_code(case), _start_of_failure(case)
    good = {code for codes in TAKEN_BACK_BY.values() for code in codes}
    told: dict[tuple[str, str | None], list[Clue]] = {}
    for clue in case.clues:
        if clue.code in good:
            told.setdefault((clue.code, clue.place.machine), []).append(clue)

    def is_taken_back(clue: Clue) -> bool:
        return any(
            _soon_after(clue, other, case.settings)
            and (by_its_code or _was_over(other, start, case.settings))
            for code in TAKEN_BACK_BY.get(clue.code, ())
            for other in told.get((code, clue.place.machine), ())
        )

    return is_taken_back


def _start_of_failure(case: Case) -> Moment | None:
    """When the first failure began, on UTC: what timed out began that much earlier."""
    begins = [
        replace(
            c.moment, time=c.moment.time - ((c.report.timeout_ms or 0) / 1000 if c.report else 0)
        )
        for c in failing(case)
        if c.moment and c.code not in TAKEN_BACK_BY
    ]
    if not begins or any(moment.scale != "utc" for moment in begins):
        return None
    return min(begins, key=lambda moment: moment.time)


def _was_over(good: Clue, start: Moment | None, settings: TriageSettings) -> bool:
    """Did the job go on after it was taken back, longer than clocks disagree?"""
    end = good.last or good.moment
    if start is None or end is None or end.scale != start.scale or end.zoned != start.zoned:
        return False
    return start.time - end.time > settings.clock_doubt


def _fails_by_its_code(case: Case) -> bool:
    """Does nothing fail, or the job's own code first, and of it all the rest?

    What can be taken back is no failure yet.
    """
    failures = [
        clue
        for clue in failing(case)
        if not clue.signature.follow_on and clue.code not in TAKEN_BACK_BY
    ]
    others = [clue for clue in failures if clue.signature.cls is not SignatureClass.USER]
    own = [clue for clue in failures if clue.signature.cls is SignatureClass.USER]
    if not others or any(all(is_before(one, other) for other in others) for one in own):
        return True
    return _has_own_fault(own) and not any(_of_network(clue) for clue in others)


def _has_own_fault(clues: Sequence[Clue]) -> bool:
    """Does the job's code fail by something of its own, told well enough?"""
    return any(
        clue.signature.component == "user-code"
        and clue.signature.severity.weight >= Severity.MEDIUM.weight
        for clue in clues
    )


def _of_network(clue: Clue) -> bool:
    return clue.signature.component in _NETWORK or clue.signature.action is Action.CHECK_LINK


def _soon_after(clue: Clue, other: Clue, settings: TriageSettings) -> bool:
    latest = clue.last or clue.moment
    end = other.last or other.moment
    if latest is None or end is None or latest.scale != end.scale:
        return is_before(clue, other) is True
    return 0 <= end.time - latest.time <= settings.recovery


def _at_boot(case: Case) -> Callable[[Clue], bool]:
    def is_boot(clue: Clue) -> bool:
        if (
            clue.signature.component not in {"nic", "optics"}
            or clue.signature.action is not Action.CHECK_LINK
        ):
            return False
        latest = clue.last or clue.moment
        if latest is None or not latest.scale.startswith("uptime"):
            return False
        return latest.time <= case.settings.boot

    return is_boot


def _corrected(case: Case) -> Callable[[Clue], bool]:
    lines: Counter[tuple[str, str | None]] = Counter()
    for clue in case.clues:
        lines[clue.code, clue.place.machine] += clue.count
    few = case.settings.corrected
    return lambda clue: clue.code in CORRECTED and lines[clue.code, clue.place.machine] < few


def _echo(case: Case) -> Callable[[Clue], bool]:
    """A time-out of the GPU right after the application's exception on it (Xid 13, then 109)."""
    exceptions: dict[tuple[str | None, str | None], list[Clue]] = {}
    for clue in case.clues:
        signature = clue.signature
        if signature.cls is SignatureClass.USER and signature.stream is Stream.KERNEL:
            exceptions.setdefault(_gpu_of(clue), []).append(clue)

    def is_echo(clue: Clue) -> bool:
        signature = clue.signature
        if signature.cls is not SignatureClass.CRITICAL or signature.component != "gpu":
            return False
        if signature.severity is Severity.CRITICAL or signature.action is not Action.RESET_GPU:
            return False
        earlier = exceptions.get(_gpu_of(clue), ()) if clue.place.gpu else ()
        return any(_follows(clue, other, case.settings.echo) for other in earlier)

    return is_echo


def _gpu_of(clue: Clue) -> tuple[str | None, str | None]:
    return clue.place.machine, pci_key(clue.place.gpu)


def _follows(clue: Clue, cause: Clue, within: float) -> bool:
    if is_before(cause, clue) is not True:
        return False
    latest = cause.last or cause.moment
    if clue.moment is None or latest is None or clue.moment.scale != latest.scale:
        return clue.log == cause.log
    return clue.moment.time - latest.time <= within


def _by_driver(case: Case) -> Callable[[Clue], bool]:
    """GPUs that cannot be started beside a driver that does not fit: nothing is broken."""
    reasons = [
        clue
        for clue in case.clues
        if clue.signature.cls is SignatureClass.CONFIG and clue.code in _MISFITS
    ]
    places = {clue.place.machine for clue in reasons}
    return lambda clue: (
        clue.code in _NOT_STARTED
        and bool(places & {clue.place.machine, None} or (places and clue.place.machine is None))
    )


def _teardown(case: Case) -> Callable[[Clue], bool]:
    events: dict[str | None, set[str]] = {}
    for clue in case.clues:
        if clue.signature.cls is not SignatureClass.INFO:
            events.setdefault(clue.place.machine, set()).add(clue.code)
    removed = "xid-45-preemptive-removal"
    return lambda clue: (
        clue.code == removed and bool(events.get(clue.place.machine, set()) - {removed})
    )


def _gathered(clues: Sequence[Clue]) -> list[Clue]:
    """Clues of no known place join the one place that the same signature names elsewhere."""
    homes: dict[tuple[str, str | None], dict[str | None, Place]] = {}
    for clue in clues:
        if clue.place.is_known:
            homes.setdefault((clue.code, clue.job), {})[clue.place.machine] = clue.place
    return [
        clue
        if clue.place.is_known
        else clue.at(_only(homes.get((clue.code, clue.job))) or clue.place)
        for clue in clues
    ]


def _only(places: Mapping[str | None, Place] | None) -> Place | None:
    return next(iter(places.values())) if places and len(places) == 1 else None
