"""Which ranks make up which communicator, from what dumps say and from what they leave out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from diagnosis.collectives.operations import plain
from diagnosis.core.collectives import RankDump
from diagnosis.core.placement import Placement

#: c10d's description of the group of all ranks; its name is "0" in a plain job.
DEFAULT_DESCRIPTION = "default_pg"

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class GroupKey:
    """A communicator's identity: groups from `split_group` share a name and differ in ranks."""

    name: str
    ranks: tuple[int, ...]

    def __hash__(self) -> int:
        """A large group is looked up by each of its ranks: all of them are not hashed each time."""
        return hash((self.name, len(self.ranks), self.ranks[:1], self.ranks[-1:]))


class _Ranks:
    """Rank lists in ascending order, one object for all equal ones, so that they compare fast.

    Dumps of one job share most of theirs; what is known by identity is kept alive by the dumps.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, ...]] = {}
        self._distinct: dict[tuple[int, ...], tuple[int, ...]] = {}

    def ascending(self, ranks: tuple[int, ...]) -> tuple[int, ...]:
        found = self._known.get(id(ranks))
        if found is None:
            ordered = tuple(sorted(ranks))
            found = self._known[id(ranks)] = self._distinct.setdefault(ordered, ordered)
        return found

    @property
    def largest(self) -> int:
        """The largest rank of all lists, -1 where there is none."""
        return max((ranks[-1] for ranks in self._distinct if ranks), default=-1)


@dataclass
class Membership:
    """Group names as each rank uses them, resolved to communicators with their member ranks."""

    world: tuple[int, ...]
    keys: dict[int, dict[str, GroupKey]] = field(default_factory=dict)
    descriptions: dict[GroupKey, str] = field(default_factory=dict)
    members: dict[GroupKey, tuple[int, ...]] = field(default_factory=dict)
    inferred: set[GroupKey] = field(default_factory=set)


def membership_of(dumps: Sequence[RankDump], placement: Placement) -> Membership:
    """All communicators of the dumps (one a rank, in rank order).

    A group's ranks come from any rank's `pg_config`; where none has them (gloo leaves it empty),
    they are the ranks with entries in it, all ranks for the default group, and every rank without a
    dump, unless an all-gather or groups of the same kind tell that the group is whole.
    """
    lists = _Ranks()
    declared = _declared(dumps, lists)
    found = Membership(world=_world(dumps, placement, lists.largest))
    seen: dict[str, set[int]] = {}
    for dump in dumps:
        keys = found.keys.setdefault(dump.rank, {})
        for name, desc in dump.entries.groups:
            key = _key(name, dump, declared, lists)
            keys[name] = key
            _describe(found, key, desc)
            if not key.ranks:
                seen.setdefault(name, set()).add(dump.rank)
        for name, group in dump.groups.items():
            if group.ranks and (name or group.name):
                key = GroupKey(name, lists.ascending(group.ranks))
                keys.setdefault(name, key)
                _describe(found, key, group.desc)
    dumped = {dump.rank for dump in dumps}
    absent = [rank for rank in found.world if rank not in dumped]
    for key in found.descriptions:
        if key.ranks:
            found.members[key] = key.ranks
        else:
            found.inferred.add(key)
            found.members[key] = _inferred(key, found, seen, dumps, absent)
    return found


def _world(
    dumps: Sequence[RankDump], placement: Placement, largest_declared: int
) -> tuple[int, ...]:
    """Every rank that is known of; c10d numbers them from 0 without a gap."""
    dumped = max((dump.rank for dump in dumps), default=-1)
    placed = max((place.rank for place in placement.places), default=-1)
    return tuple(range(max(dumped, placed, largest_declared) + 1))


def _declared(
    dumps: Sequence[RankDump], lists: _Ranks
) -> Mapping[str, Mapping[int, tuple[int, ...]]]:
    """Name → the different rank lists that dumps give it, by their identity."""
    declared: dict[str, dict[int, tuple[int, ...]]] = {}
    for dump in dumps:
        for name, group in dump.groups.items():
            if group.ranks:
                ranks = lists.ascending(group.ranks)
                if name:
                    declared.setdefault(name, {})[id(ranks)] = ranks
    return declared


def _key(
    name: str,
    dump: RankDump,
    declared: Mapping[str, Mapping[int, tuple[int, ...]]],
    lists: _Ranks,
) -> GroupKey:
    own = dump.groups.get(name)
    if own is not None and own.ranks and name:
        return GroupKey(name, lists.ascending(own.ranks))
    fitting = [ranks for ranks in declared.get(name, {}).values() if dump.rank in ranks]
    return GroupKey(name, fitting[0] if len(fitting) == 1 else ())


def _describe(found: Membership, key: GroupKey, desc: str) -> None:
    """The first description in alphabetical order, so that file order never matters."""
    known = found.descriptions.get(key)
    found.descriptions[key] = min(filter(None, (known, desc)), default="")


def _inferred(
    key: GroupKey,
    found: Membership,
    seen: Mapping[str, set[int]],
    dumps: Sequence[RankDump],
    absent: Sequence[int],
) -> tuple[int, ...]:
    if found.descriptions[key] == DEFAULT_DESCRIPTION:
        return found.world
    own = seen[key.name]
    size = _size_from_gathers(key.name, dumps) or _size_of_family(key, found, seen)
    if size is not None and size <= len(own):
        return tuple(sorted(own))
    return tuple(sorted({*own, *absent}))


def _size_of_family(key: GroupKey, found: Membership, seen: Mapping[str, set[int]]) -> int | None:
    """The size of the largest group of the same kind: `TP_0` and `TP_1` have as many ranks.

    None where there is no other, or ranks without a dump may belong to all of them.
    """
    kind = _DIGITS.sub("", found.descriptions[key])
    sizes = [
        len(seen[other.name])
        for other, desc in found.descriptions.items()
        if not other.ranks and _DIGITS.sub("", desc) == kind
    ]
    return max(sizes) if len(sizes) > 1 else None


def _size_from_gathers(name: str, dumps: Sequence[RankDump]) -> int:
    """How many ranks a group has, by how much larger an all-gather's output is; 0 if unknown."""
    for dump in dumps:
        entries = dump.entries
        numbers = [index for index, group in enumerate(entries.groups) if group[0] == name]
        for call in {
            int(c) for c, g in zip(entries.call, entries.group, strict=True) if g in numbers
        }:
            signature = entries.calls[call]
            if plain(signature.op).startswith("allgather") and len(signature.input_sizes) == 1:
                sent = _elements(signature.input_sizes)
                received = _elements(signature.output_sizes)
                if sent and received % sent == 0:
                    return received // sent
    return 0


def _elements(sizes: tuple[tuple[int, ...], ...]) -> int:
    total = 0
    for shape in sizes:
        count = 1
        for size in shape:
            count *= size
        total += count
    return total
