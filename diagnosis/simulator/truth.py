"""What really happened in a simulation: the answer that a diagnosis is measured against."""

from dataclasses import dataclass

from diagnosis.core.words import Action, IncidentKind, VerdictClass


@dataclass(frozen=True, slots=True)
class ExpectedAction:
    """An action that a right diagnosis recommends, and the host (or other target) it is for."""

    action: Action
    target: str


@dataclass(frozen=True)
class Truth:
    """The cause. Culprits are empty where no rank is to blame.

    `onset` is in seconds since the epoch by true time, None for a healthy job. `gpu` is the PCI
    address, `link` is `host/device`. `class_accept` are the classes that count as right from this
    evidence. `victims` only wait: isolating the host of one that is no culprit's is wrong.
    `communicator` and `sequence` are where the culprit's group stands, where there is such a place.
    """

    scenario: str
    fault: str
    kind: IncidentKind
    cls: VerdictClass
    class_accept: tuple[VerdictClass, ...]
    cause: str
    culprits: tuple[int, ...] = ()
    culprit_hosts: tuple[str, ...] = ()
    gpu: str | None = None
    link: str | None = None
    victims: tuple[int, ...] = ()
    onset: float | None = None
    actions: tuple[ExpectedAction, ...] = ()
    must_not_isolate: tuple[str, ...] = ()
    communicator: str | None = None
    sequence: int | None = None
    seed: int = 0

    def to_dict(self) -> dict[str, object]:
        """The shape of `truth/truth.json`."""
        return {
            "scenario": self.scenario,
            "fault": self.fault,
            "kind": self.kind.value,
            "class": self.cls.value,
            "class_accept": [cls.value for cls in self.class_accept],
            "cause": self.cause,
            "culprits": list(self.culprits),
            "culprit_hosts": list(self.culprit_hosts),
            "gpu": self.gpu,
            "link": self.link,
            "victims": list(self.victims),
            "onset": self.onset,
            "actions": [{"action": a.action.value, "target": a.target} for a in self.actions],
            "must_not_isolate": list(self.must_not_isolate),
            "communicator": self.communicator,
            "sequence": self.sequence,
            "seed": self.seed,
        }
