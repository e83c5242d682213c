"""Does a host shift alone, or with a group? A group's shift is one finding and names nobody."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import FloatArray
from diagnosis.degradation.answers import FleetShift
from diagnosis.degradation.cells import Cell, value_at
from diagnosis.degradation.fleet_events import CONGESTED
from diagnosis.degradation.scaling import BoolArray
from diagnosis.degradation.state import Watch

#: What a congested fabric explains.
_THROUGHPUT = "network-slow"


@dataclass(frozen=True)
class GroupRule:
    """A host is alone when it is `lead` times as far as the next one in the same direction.

    Where the peers moved together within `stirred_s` hosts differ in how far: `stirred_lead` is
    asked there.
    In jobs of `large_group` hosts one other host may be as far. `shared_hosts` make a group there,
    two in smaller jobs; they are one when they left within `same_time_s`. A metric in which more
    than `crowd` cells are away is a group's without a closer look.
    """

    lead: float = 1.7
    stirred_lead: float = 2.5
    stirred_s: float = 1200.0
    large_group: int = 12
    shared_hosts: int = 3
    same_time_s: float = 150.0
    crowd: int = 24

    def crowded_rows(self, state: Watch, held: Sequence[Cell]) -> set[int]:
        """Metrics in which so many hosts are away that it is a group's shift beyond doubt."""
        by_row: dict[int, list[Cell]] = {}
        for cell in held:
            by_row.setdefault(cell.row, []).append(cell)
        crowded = {row: cells for row, cells in by_row.items() if len(cells) > self.crowd}
        for cells in crowded.values():
            middle = sorted(cells, key=lambda cell: cell.deviations)[len(cells) // 2]
            self.shared(state, middle)
        return set(crowded)

    def explained_rows(self, state: Watch) -> set[int]:
        """Throughput, while the fleet's counters tell of congestion: hosts suffer unevenly."""
        away = np.abs(state.common.mean).max(axis=1) > state.scaling.floor[:, 0]
        told = [
            state.panel.definitions[row].implicates
            for row in np.flatnonzero(away & state.scaling.abnormal[:, 0])
        ]
        if not CONGESTED.intersection(told):
            return set()
        definitions = enumerate(state.panel.definitions)
        return {row for row, item in definitions if item.implicates == _THROUGHPUT}

    def stands_alone(self, state: Watch, cell: Cell) -> bool:
        """Is the cell's host well beyond all others, but for one in a large job?

        Hosts that were named for something earlier do not count.
        """
        if self._in_known_group(state, cell):
            return False
        hosts = state.panel.peers.host
        mine = hosts[cell.entity]
        along = cell.along
        before = cell.onset - self.same_time_s
        earlier = [host for host, alarm in state.alarms.items() if alarm.onset < before]
        explained = np.isin(hosts, [mine, *earlier])
        others = _largest_per_host(along[~explained], hosts[~explained])
        stirred = self._peers_moved(state, cell)
        rank = 1 if len(np.unique(hosts)) >= self.large_group else 0
        rival = others[rank] if len(others) > rank else 0.0
        lead = self.stirred_lead if stirred else self.lead
        return bool(lead * max(rival, 0.0) <= cell.size)

    def _peers_moved(self, state: Watch, cell: Cell) -> bool:
        """Did the peers move together in this metric? Then hosts differ in how far they went."""
        return state.time - state.start - value_at(state.common.stirred, cell) < self.stirred_s

    def _in_known_group(self, state: Watch, cell: Cell) -> bool:
        """Did the host shift in this metric with a group that is still away with it?"""
        host = state.panel.hosts[cell.entity]
        for shift in state.fleet_wide:
            if shift.metric != state.panel.name(cell.row) or host not in shift.hosts:
                continue
            away = cell.along > 0.3 * cell.size
            others = {state.panel.hosts[i] for i in np.flatnonzero(away)} & set(shift.hosts)
            began_before = shift.start <= cell.onset + 2 * self.same_time_s
            if began_before and len(others - {host}) >= self._group_size(state) - 1:
                return True
        return False

    def _group_size(self, state: Watch) -> int:
        """From how many hosts on a shift is shared; in a small job two are a quarter of it."""
        job = len(np.unique(state.panel.peers.host))
        return self.shared_hosts if job >= self.large_group else 2

    def shared(self, state: Watch, cell: Cell) -> bool:
        """Do several hosts show the cell's shift? They are noted as a group, none is named for it.

        Where they cross the bound one after the other, the first is named and then taken back.
        """
        along = cell.along
        together = along > 0.5 * cell.size
        needed = self._group_size(state)
        if self._in_known_group(state, cell):
            return True
        if len(np.unique(state.panel.peers.host[together])) < needed:
            return False
        self._note_group(state, cell, along, together)
        return True

    def _note_group(self, state: Watch, cell: Cell, along: FloatArray, together: BoolArray) -> None:
        """Hosts that shift together are one finding, which grows while more of them join."""
        names = tuple(dict.fromkeys(state.panel.hosts[i] for i in np.flatnonzero(together)))
        metric = state.panel.name(cell.row)
        for index, known in enumerate(state.fleet_wide):
            if known.metric == metric and known.hosts and known.end is None:
                joined = tuple(dict.fromkeys((*known.hosts, *names)))
                state.fleet_wide[index] = replace(known, hosts=joined)
                return
        change = float(np.expm1(np.median(along[together])))
        state.fleet_wide.append(FleetShift(metric, cell.onset, None, change, names))

    def close(self, state: Watch) -> None:
        """End the groups whose hosts have all come back."""
        rows = [state.panel.name(row) for row in range(len(state.offset))]
        for index, shift in enumerate(state.fleet_wide):
            if not shift.hosts or shift.end is not None:
                continue
            row = rows.index(shift.metric)
            away = (state.fast.run[row] > 0) | (state.slow.run[row] > 0)
            names = {state.panel.hosts[entity] for entity in np.flatnonzero(away)}
            if names.isdisjoint(shift.hosts):
                state.fleet_wide[index] = replace(shift, end=state.time)


def _largest_per_host(sizes: FloatArray, hosts: npt.NDArray[np.intp]) -> list[float]:
    """The largest size of each host, descending."""
    largest: dict[int, float] = {}
    for size, host in zip(sizes.tolist(), hosts.tolist(), strict=True):
        largest[host] = max(size, largest.get(host, -np.inf))
    return sorted(largest.values(), reverse=True)
