"""The verdict of a run of checks: deliver, hold or repeat, per host, with the reasons."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from diagnosis.checks.criteria import (
    Judged,
    Reading,
    healthy_of,
    is_shifted,
    judge,
    reading_of,
    usual_of,
)
from diagnosis.checks.output import Ending, Output, Unreadable
from diagnosis.checks.parsers import read
from diagnosis.checks.suite import Blame, Direction, Item, Rule, Scope, Suite

#: host → item → the outputs of its attempts, oldest first.
Outputs = Mapping[str, Mapping[str, Sequence[Output]]]
#: item → host → the value by which that host was last delivered.
History = Mapping[str, Mapping[str, Reading]]


class Decision(StrEnum):
    """What becomes of a host, or of the batch."""

    DELIVER = "deliver"
    HOLD = "hold"
    REPEAT = "repeat"


class Status(StrEnum):
    """How one item ended on one host."""

    PASSED = "passed"
    FAILED = "failed"
    REPEAT = "repeat"
    CANNOT_TELL = "cannot-tell"


@dataclass(frozen=True, slots=True)
class Reason:
    """One item on one host: its value, the peers, the criterion, and what came of it."""

    item: str
    status: Status
    text: str
    value: Reading | None = None
    unit: str = ""
    device: str = ""
    peers: str = ""
    criterion: str = ""
    blame: Blame = Blame.DEGRADATION
    mass: bool = False


@dataclass(frozen=True, slots=True)
class HostVerdict:
    """The decision on one host; `reasons` are its items, the failed ones first."""

    host: str
    decision: Decision
    reasons: tuple[Reason, ...]

    @property
    def against(self) -> tuple[Reason, ...]:
        """The reasons that keep it from being delivered."""
        return tuple(one for one in self.reasons if one.status != Status.PASSED)


@dataclass(frozen=True)
class BatchVerdict:
    """All hosts of a run. `mass` are the items that failed on so many that an update is suspected.

    `learned` are the values that may join the history: those of delivered hosts alone.
    """

    hosts: tuple[HostVerdict, ...]
    mass: tuple[str, ...] = ()
    learned: Mapping[str, Mapping[str, Reading]] = field(default_factory=dict)

    @property
    def decision(self) -> Decision:
        """The batch: held as a whole, or repeated, or delivered as far as its hosts are."""
        if self.mass:
            return Decision.HOLD
        decisions = {one.decision for one in self.hosts}
        if not self.hosts or decisions == {Decision.REPEAT}:
            return Decision.REPEAT
        return Decision.HOLD if decisions == {Decision.HOLD} else Decision.DELIVER

    def of(self, host: str) -> HostVerdict:
        return next(one for one in self.hosts if one.host == host)


@dataclass(frozen=True)
class Judge:
    """Judges a run. An item is measured up to `attempts` times; a failure on `mass_share` of at
    least `mass_hosts` hosts is a mass failure (algorithms: a bad update, roll back).
    """

    suite: Suite
    history: History = field(default_factory=dict)
    attempts: int = 2
    mass_share: float = 0.3
    mass_hosts: int = 3

    def __call__(self, outputs: Outputs) -> BatchVerdict:
        reasons: dict[str, list[Reason]] = {host: [] for host in outputs}
        readings: dict[str, dict[str, Reading]] = {}
        mass = []
        for item in self.suite.items:
            found = self._item(item, {host: of.get(item.code, ()) for host, of in outputs.items()})
            readings[item.code] = found.readings
            if found.is_mass:
                mass.append(item.code)
            for host, reason in found.reasons.items():
                reasons[host].append(reason)
        hosts = tuple(_host(host, of) for host, of in reasons.items())
        delivered = {one.host for one in hosts if one.decision == Decision.DELIVER}
        learned = {
            code: {host: value for host, value in of.items() if host in delivered}
            for code, of in readings.items()
        }
        return BatchVerdict(hosts, tuple(mass), {} if mass else learned)

    def _item(self, item: Item, outputs: Mapping[str, Sequence[Output]]) -> "_Found":
        read_ = {host: _Attempts.of(item, of) for host, of in outputs.items()}
        current = {host: one.best for host, one in read_.items() if one.best is not None}
        past = self.history.get(item.code, {})
        healthy, usual = healthy_of(item, current, past), usual_of(current, past)
        judged = {host: judge(item, value, healthy, usual) for host, value in current.items()}
        failed = [host for host, one in judged.items() if one.passed is False]
        most = max(self.mass_hosts, self.mass_share * len(outputs))
        exact = item.criterion.rule != Rule.FLEET
        is_mass = len(failed) >= most and (exact or is_shifted(item, current, past))
        reasons = {
            host: self._reason(item, one, judged.get(host), is_mass=is_mass and host in failed)
            for host, one in read_.items()
        }
        return _Found(reasons, current, is_mass)

    def _reason(
        self, item: Item, tried: "_Attempts", judged: Judged | None, *, is_mass: bool
    ) -> Reason:
        if judged is None or tried.best is None:
            return self._without_value(item, tried)
        status = Status.PASSED if judged.passed else Status.FAILED
        if judged.passed is None:
            status = Status.CANNOT_TELL
        wanted = item.rounds if item.scope == Scope.PAIR else 2
        if status == Status.FAILED and item.confirm and tried.number < wanted:
            status = Status.REPEAT
        device = f" on {tried.device}" if tried.device else ""
        value = f"{tried.best:g}" if isinstance(tried.best, float) else tried.best
        text = f"{item.title}{device}: {value} {item.unit}".rstrip()
        against = ", ".join(part for part in (judged.criterion, judged.peers) if part)
        if item.criterion.rule == Rule.SAME and judged.passed is not None:
            against = f"as {judged.peers}"
        text = f"{text}; wanted {against}" if status != Status.PASSED else text
        if is_mass:
            text += "; so many hosts fail this that an update is suspected"
        return Reason(
            item.code,
            status,
            text,
            tried.best,
            item.unit,
            tried.device,
            judged.peers,
            judged.criterion,
            item.blame,
            is_mass,
        )

    def _without_value(self, item: Item, tried: "_Attempts") -> Reason:
        """No value at all: measured again, then a hang is a failure and the rest stays open."""
        status = Status.REPEAT if tried.number < self.attempts else Status.CANNOT_TELL
        blame = item.blame
        text = f"{item.title}: {tried.error or 'not run yet'}"
        if tried.is_missing:
            status = Status.CANNOT_TELL
        elif tried.timed_out >= self.attempts:
            status, blame = Status.FAILED, Blame.CRITICAL
            text = (
                f"{item.title}: hangs; no end within {item.time_limit_s:g} s, {self.attempts} times"
            )
        return Reason(item.code, status, text, blame=blame, unit=item.unit)


@dataclass(frozen=True)
class _Found:
    reasons: Mapping[str, Reason]
    readings: dict[str, Reading]
    is_mass: bool


@dataclass(frozen=True, slots=True)
class _Attempts:
    """What a host's attempts at one item gave: the best reading, or why there is none."""

    number: int
    best: Reading | None
    device: str
    error: str
    timed_out: int
    is_missing: bool

    @classmethod
    def of(cls, item: Item, outputs: Sequence[Output]) -> "_Attempts":
        found: list[tuple[Reading, str]] = []
        error = ""
        for output in outputs:
            try:
                reading = reading_of(item, read(item.parser, output))
                if reading is None:
                    raise Unreadable(f"the output has no '{item.value}'")
                found.append(reading)
            except Unreadable as problem:
                error = str(problem)
        endings = [output.ending for output in outputs]
        best, device = _best(item, found) if found else (None, "")
        return cls(
            len(outputs),
            best,
            device,
            error,
            endings.count(Ending.TIMED_OUT),
            bool(endings) and endings[-1] == Ending.MISSING,
        )


def _best(item: Item, found: Sequence[tuple[Reading, str]]) -> tuple[Reading, str]:
    """The best of the attempts for numbers; the last one for texts."""
    numbers = [one for one in found if not isinstance(one[0], str)]
    if not numbers or item.direction == Direction.EQUAL or len(numbers) < len(found):
        return found[-1]
    pick = max if item.direction == Direction.HIGHER else min
    return pick(numbers, key=lambda one: float(one[0]))


def _host(host: str, reasons: Iterable[Reason]) -> HostVerdict:
    order = [Status.FAILED, Status.CANNOT_TELL, Status.REPEAT, Status.PASSED]
    ordered = tuple(sorted(reasons, key=lambda one: order.index(one.status)))
    statuses = {one.status for one in ordered if not one.mass}
    if Status.FAILED in statuses:
        return HostVerdict(host, Decision.HOLD, ordered)
    everything_passed = bool(ordered) and all(one.status == Status.PASSED for one in ordered)
    return HostVerdict(host, Decision.DELIVER if everything_passed else Decision.REPEAT, ordered)
