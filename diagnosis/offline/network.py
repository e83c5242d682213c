"""Faults of switches and layers, and which groups each of them spoils.

Families, each over its places: a ToR that spoils every group with a host under it, a ToR's uplink
(groups that leave it), a ToR's inside (groups with two hosts under it), a pod's aggregation (groups
that touch the pod and cross ToRs), a pod's uplink, a pair of pods, the aggregation layer (groups
that cross ToRs) and the layer above it (groups that cross pods).
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from diagnosis.offline.layout import Bools, Floats, Ints, Layout
from diagnosis.offline.settings import OfflineSettings

FAMILIES = ("tor", "uplink", "inside", "pod", "pod-uplink", "pod-pair", "aggregation", "core")


@dataclass(frozen=True, eq=False)
class Network:
    """The network faults of one layout, numbered through all families."""

    layout: Layout
    settings: OfflineSettings

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How many faults each family has; families that repeat another one are left out.

        Two pods have one way between them, and so have two ToRs.
        """
        blocks, pods = len(self.layout.blocks), len(self.layout.pods)
        one_block_a_pod = blocks == pods
        paired = pods * (pods - 1) // 2 if 2 < pods <= self.settings.pods_paired else 0
        return {
            "tor": blocks,
            "uplink": blocks if blocks > 2 else 0,
            "inside": blocks,
            "pod": pods if pods > 1 and not one_block_a_pod else 0,
            "pod-uplink": pods if pods > 2 and not one_block_a_pod else 0,
            "pod-pair": paired,
            "aggregation": int(blocks > 1),
            "core": int(pods > 1 and not one_block_a_pod),
        }

    @cached_property
    def starts(self) -> dict[str, int]:
        ends = np.cumsum([self.sizes[family] for family in FAMILIES])
        return dict(zip(FAMILIES, [0, *ends[:-1].tolist()], strict=True))

    def __len__(self) -> int:
        return sum(self.sizes.values())

    @cached_property
    def pod_pairs(self) -> tuple[tuple[int, int], ...]:
        if not self.sizes["pod-pair"]:
            return ()
        return tuple(combinations(range(len(self.layout.pods)), 2))

    @cached_property
    def number_of_pod_pair(self) -> dict[tuple[int, int], int]:
        return {pair: place for place, pair in enumerate(self.pod_pairs)}

    @cached_property
    def priors(self) -> Floats:
        """Log prior odds (E,)."""
        shares = {
            "tor": self.settings.tor_share,
            "uplink": self.settings.uplink_share,
            "inside": self.settings.inside_share,
            "pod": self.settings.pod_share,
            "pod-uplink": self.settings.pod_uplink_share,
            "pod-pair": self.settings.pod_pair_share,
            "aggregation": self.settings.layer_share,
            "core": self.settings.layer_share,
        }
        return np.concatenate(
            [
                np.full(self.sizes[family], np.log(shares[family] / max(self.sizes[family], 1)))
                for family in FAMILIES
            ]
        )

    def place_of(self, number: int) -> tuple[str, int]:
        """Family and number within it."""
        family = next(
            name
            for name in FAMILIES
            if self.starts[name] <= number < self.starts[name] + self.sizes[name]
        )
        return family, number - self.starts[family]

    def hosts_of(self, number: int) -> Ints:
        """The hosts to leave out of later rounds once this fault is known; none for a layer."""
        family, place = self.place_of(number)
        if family in {"tor", "uplink", "inside"}:
            return np.flatnonzero(self.layout.block == place)
        if family in {"pod", "pod-uplink"}:
            return np.flatnonzero(self.layout.pod == place)
        if family == "pod-pair":
            return np.flatnonzero(self.layout.pod == self.pod_pairs[place][1])
        return np.zeros(0, dtype=np.int64)

    def hits(self, group_of: Ints, groups: int) -> tuple[Ints, Ints]:
        """Which faults spoil which groups of a round, as two arrays (group, fault).

        `group_of` (n,) is each host's group, -1 for none.
        """
        members = np.flatnonzero(group_of >= 0)
        group = group_of[members]
        size = np.bincount(group, minlength=groups)
        in_group, block, counts = _present(group, self.layout.block[members])
        crosses = np.bincount(in_group, minlength=groups) > 1
        in_pod_group, pod, _ = _present(group, self.layout.pod[members])
        crosses_pods = np.bincount(in_pod_group, minlength=groups) > 1
        leaving, inside = size[in_group] > counts, counts >= 2
        touched, far = crosses[in_pod_group], crosses_pods[in_pod_group]
        found = [
            self._of("tor", in_group, block),
            self._of("uplink", in_group[leaving], block[leaving]),
            self._of("inside", in_group[inside], block[inside]),
            self._of("pod", in_pod_group[touched], pod[touched]),
            self._of("pod-uplink", in_pod_group[far], pod[far]),
            self._of("pod-pair", *self._pod_pairs_in(in_pod_group[far], pod[far])),
            self._layer("aggregation", crosses),
            self._layer("core", crosses_pods),
        ]
        return np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])

    def _of(self, family: str, groups: Ints, places: Ints) -> tuple[Ints, Ints]:
        if not self.sizes[family]:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return groups, places + self.starts[family]

    def _layer(self, family: str, crossing: Bools) -> tuple[Ints, Ints]:
        groups = np.flatnonzero(crossing)
        return self._of(family, groups, np.zeros(len(groups), dtype=np.int64))

    def _pod_pairs_in(self, groups: Ints, pods: Ints) -> tuple[Ints, Ints]:
        number = self.number_of_pod_pair
        found = [
            (group, number[one, other])
            for group in (np.unique(groups).tolist() if number else ())
            for one, other in combinations(pods[groups == group].tolist(), 2)
        ]
        both = np.array(found, dtype=np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]


def _present(group: Ints, place: Ints) -> tuple[Ints, Ints, Ints]:
    """Each (group, place) that occurs, and how often."""
    width = int(place.max(initial=0)) + 1
    keys, counts = np.unique(group * width + place, return_counts=True)
    return keys // width, keys % width, counts
