"""What the rounds convict, in the contract's shapes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from diagnosis.core.diagnosis import Finding, Recommendation, Suspect, Verdict
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass
from diagnosis.offline.belief import Place
from diagnosis.offline.history import History
from diagnosis.offline.planner import Planner

DETECTOR = "offline-plan"
#: From this probability on a place is convicted; below the other one it is not worth a line.
CONVICTED = 0.8
LEAST_SHOWN = 0.05


@dataclass(frozen=True)
class OfflineAnswer:
    """The verdict of an offline diagnosis, its suspects, what to do, and how it came about."""

    verdict: Verdict
    suspects: tuple[Suspect, ...]
    recommendations: tuple[Recommendation, ...]
    trace: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Judge:
    """Puts a planner's belief into words."""

    planner: Planner

    @property
    def history(self) -> History:
        return self.planner.history

    def answer(self) -> OfflineAnswer:
        suspects = () if self.planner.is_mass_failure else tuple(self._suspects())
        return OfflineAnswer(
            self._verdict(suspects),
            suspects,
            tuple(self._recommendations(suspects)),
            tuple(self._trace()),
        )

    @cached_property
    def _places(self) -> dict[Place, float]:
        """The places that carry the questions' probability, up to five a question."""
        found: dict[Place, float] = {}
        belief, sure = self.planner.belief, self.history.network.settings.sure
        for question in [*(asked for _, asked in belief.assumed), *belief.unexplained]:
            places = question.by_place(self.history.network)
            for place, probability in sorted(places.items(), key=lambda item: -item[1])[:5]:
                if probability >= LEAST_SHOWN:
                    found.setdefault(place, probability)
                if probability >= sure:
                    break
        return found

    def _suspects(self) -> Iterator[Suspect]:
        """Parts that no group can tell from each other share their place's probability."""
        for place, probability in self._places.items():
            targets = self._targets(place)
            role = Role.CULPRIT if probability >= CONVICTED else Role.POSSIBLE
            text = self._why(place)
            if len(targets) > 1:
                text += f"; it is one of {', '.join(str(one.name) for one in targets)}"
            for target in targets:
                why = (Finding(DETECTOR, target, text, None),)
                yield Suspect(target, probability / len(targets), role, None, why)
        yield from self._silent()

    def _targets(self, place: Place) -> list[Target]:
        """The parts behind a place: all the ToRs where hosts hang under several."""
        if place[0] == "tor":
            tors = self.history.layout.blocks[cast("int", place[1])].tors
            return [Target(TargetKind.SWITCH, name=tor) for tor in tors]
        return [self._target(place)]

    def _target(self, place: Place) -> Target:
        layout = self.history.layout
        match place:
            case ("host", int(host)):
                name = layout.names[host]
                return Target(TargetKind.HOST, name=name, host=name)
            case ("pair", int(one), int(other)):
                name = layout.names[one]
                return Target(TargetKind.LINK, name=name, host=name, peer=layout.names[other])
            case ("pod", int(pod)):
                return Target(TargetKind.SWITCH, name=self._aggregation_of(pod))
            case ("pod-pair", int(number)):
                one, other = self.history.network.pod_pairs[number]
                ends = self._aggregation_of(one), self._aggregation_of(other)
                return Target(TargetKind.LINK, name=ends[0], peer=ends[1])
        return Target(TargetKind.SWITCH, name="aggregation")

    def _aggregation_of(self, pod: int) -> str:
        return f"aggregation of {self.history.layout.pods[pod] or 'the hosts without a pod'}"

    def _why(self, place: Place) -> str:
        history = self.history
        match place:
            case ("host", int(host)):
                return (
                    f"{history.host_failures[host]} of {self._tests(host)} tests with "
                    f"{history.layout.names[host]} failed; its partners passed without it"
                )
            case ("pair", int(one), int(other)):
                names = f"{history.layout.names[one]} and {history.layout.names[other]}"
                return f"tests failed with {names} together, and passed with either alone"
            case ("tor", int(block)):
                name = history.layout.blocks[block].name
                return f"groups failed whose traffic passes {name}, whichever hosts were in them"
            case ("pod", _) | ("pod-pair", _):
                return "groups failed that leave the pod or cross its ToRs; groups inside passed"
        return "groups failed that cross ToRs or pods; groups that do not cross passed"

    def _tests(self, host: int) -> int:
        return int(self.history.host_passes[host] + self.history.host_failures[host])

    @cached_property
    def _never_answered(self) -> list[int]:
        history = self.history
        told = history.host_passes + history.host_failures
        return np.flatnonzero((told == 0) & (history.host_silences > 0)).tolist()

    def _silent(self) -> Iterator[Suspect]:
        """A host without any answer: it may hang, or nobody may have run its test."""
        everyone = len(self._never_answered) == len(self.history.layout)
        for host in () if everyone else self._never_answered:
            target = self._target(("host", host))
            text = f"none of {self.history.host_silences[host]} tests gave an answer"
            yield Suspect(
                target, 0.3, Role.POSSIBLE, None, (Finding(DETECTOR, target, text, None),)
            )

    def _verdict(self, suspects: tuple[Suspect, ...]) -> Verdict:
        coverage = self._coverage()
        culprits = [one for one in suspects if one.role == Role.CULPRIT]
        if self.planner.is_mass_failure:
            text = (
                "Most groups failed under most ToRs: suspect the test job or something that all "
                "hosts share, such as an image or a driver, before any host."
            )
            return Verdict(IncidentKind.CHECK, VerdictClass.UNKNOWN, text, 0.5, coverage)
        if culprits:
            names = ", ".join(_named(one.target) for one in culprits)
            text = f"{names}: named after {len(self.history.rounds)} rounds."
            surest = min(odds for odds in self._places.values() if odds >= CONVICTED)
            return Verdict(IncidentKind.CHECK, VerdictClass.CRITICAL, text, surest, coverage)
        if suspects:
            names = ", ".join(_named(one.target) for one in suspects[:5])
            text = f"Not settled after {len(self.history.rounds)} rounds: {names} are possible."
            top = max(one.score for one in suspects)
            return Verdict(IncidentKind.CHECK, VerdictClass.UNKNOWN, text, top, coverage)
        if not self.history.host_passes.any():
            text = "No test gave an answer: nothing can be said."
            return Verdict(IncidentKind.NONE, VerdictClass.UNKNOWN, text, 0.0, coverage)
        text = "Every group passed, the one across everything included: no test shows a fault."
        return Verdict(IncidentKind.NONE, VerdictClass.HEALTHY, text, 0.9, coverage)

    def _coverage(self) -> dict[str, object]:
        told = self.history.host_passes + self.history.host_failures
        return {
            "hosts": len(self.history.layout),
            "hosts_tested": int((told > 0).sum()),
            "rounds": len(self.history.rounds),
            "tests": sum(len(one.results) for one in self.history.rounds),
            "unanswered": sum(one.results.count(None) for one in self.history.rounds),
        }

    def _recommendations(self, suspects: Iterable[Suspect]) -> Iterator[Recommendation]:
        for suspect in suspects:
            if suspect.role != Role.CULPRIT:
                continue
            is_host = suspect.target.kind == TargetKind.HOST
            action = Action.ISOLATE_HOST if is_host else Action.CHECK_LINK
            yield Recommendation(action, suspect.target, suspect.findings[0].text)

    def _trace(self) -> Iterator[str]:
        layout = self.history.layout
        for number, one in enumerate(self.history.rounds, 1):
            failed = [
                ", ".join(layout.names[host] for host in group[:4].tolist())
                + (f" and {len(group) - 4} more" if len(group) > 4 else "")
                for group, result in zip(one.round.groups, one.results, strict=True)
                if result is False
            ]
            told = f"{len(one.results)} groups, {len(failed)} failed"
            if one.results.count(None):
                told += f", {one.results.count(None)} without an answer"
            shown = "; ".join(failed[:4]) + ("; …" if len(failed) > 4 else "")
            yield f"round {number} ({one.round.purpose}): {told}" + (f": {shown}" if failed else "")


def _named(target: Target) -> str:
    if target.peer:
        return f"between {target.name} and {target.peer}"
    return target.name or target.kind
