"""Constants of the planner, each a setting."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OfflineSettings:
    """`miss`: a test passes a fault that it touches; `false_alarm`: it fails without one.

    The shares are the prior probabilities of the families of faults; what is missing to 1 is that
    there is no fault. A fault is named once its probability reaches `sure`.
    """

    miss: float = 0.1
    false_alarm: float = 5e-4
    sure: float = 0.99
    max_rounds: int = 80
    max_faults: int = 6
    max_repeats: int = 3

    host_share: float = 0.55
    pair_share: float = 0.08
    tor_share: float = 0.05
    uplink_share: float = 0.05
    inside_share: float = 0.02
    pod_share: float = 0.03
    pod_uplink_share: float = 0.03
    layer_share: float = 0.04
    pod_pair_share: float = 0.02

    #: More candidates than this are sampled: it bounds the work of a step on thousands of hosts.
    pairs_weighed: int = 60_000
    pods_paired: int = 40
    designs_per_kind: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.miss < 1 or not 0 < self.false_alarm < 1:
            raise ValueError("miss and false_alarm are probabilities between 0 and 1")
