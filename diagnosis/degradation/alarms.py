"""From cells that are out of bounds to hosts that are named, and to groups that are not."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from diagnosis.core.metrics import FloatArray
from diagnosis.degradation.answers import FleetShift, HostSuspect, MetricShift
from diagnosis.degradation.scaling import BoolArray
from diagnosis.degradation.state import Alarm, Smoothed, Watch


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric of one entity that has stayed out of bounds, measured in its deviations."""

    row: int
    entity: int
    deviations: float
    onset: float
    lasted: float


@dataclass(frozen=True)
class AlarmRule:
    """Name a host for one metric beyond the full bound, or several beyond a share of it.

    What is `strong` times beyond the bound speaks at once, the rest after `patience` times as long.

    A cell speaks for its host only when the host itself has moved (`own_share` of the distance),
    and when it is `lead` times as far away as the next host in the same direction; in jobs of
    `large_group` hosts one other host may be as far. Otherwise they move together.
    """

    hold_s: float
    activity_hold_s: float
    second_metric_share: float = 0.7
    own_share: float = 0.4
    lead: float = 1.7
    large_group: int = 12
    shared_hosts: int = 3
    strong: float = 1.5
    patience: float = 2.0
    close_s: float = 300.0
    same_time_s: float = 150.0
    own_evidence: float = 0.35

    def __call__(self, state: Watch, limit: float) -> None:
        """Open, keep up and close alarms in the state; `limit` is the full bound in deviations."""
        by_host: dict[int, list[Cell]] = {}
        shared: dict[int, float] = {}
        for cell, smooth in self._held(state):
            host = int(state.panel.peers.host[cell.entity])
            if not self._moved_itself(state, smooth, cell):
                continue
            if self._settled(state, host) or self._stands_alone(state, smooth, cell):
                by_host.setdefault(host, []).append(cell)
            elif self._shared(state, smooth, cell):
                shared[host] = max(cell.deviations, shared.get(host, 0.0))
            elif host in state.alarms:
                by_host.setdefault(host, []).append(cell)
        for host, deviations in shared.items():
            bar = self.own_evidence * deviations
            if all(cell.deviations < bar for cell in by_host.get(host, ())):
                by_host.pop(host, None)
                state.alarms.pop(host, None)
        for host, cells in by_host.items():
            self._note(state, host, cells, limit)
        self._date_recoveries(state, by_host)

    def _date_recoveries(self, state: Watch, by_host: Mapping[int, list[Cell]]) -> None:
        for host, alarm in state.alarms.items():
            if any(_still_away(state, cell) for cell in by_host.get(host, ())):
                alarm.last_hot, alarm.recovered = state.time, None
            elif alarm.recovered is None and state.time - alarm.last_hot > self.close_s:
                alarm.recovered = alarm.last_hot

    def suspects(self, state: Watch) -> tuple[HostSuspect, ...]:
        """Named hosts, the strongest first, then those that came near the bar."""
        named = [_suspect(state, host, alarm, named=True) for host, alarm in state.alarms.items()]
        near = [
            _suspect(state, host, alarm, named=False)
            for host, alarm in state.near.items()
            if host not in state.alarms
        ]
        return tuple(
            sorted(named, key=lambda item: -item.score) + sorted(near, key=lambda item: -item.score)
        )

    def _held(self, state: Watch) -> Iterator[tuple[Cell, Smoothed]]:
        needed = np.where(state.scaling.activity, self.activity_hold_s, self.hold_s)
        strongest: dict[tuple[int, int], tuple[Cell, Smoothed]] = {}
        for smooth in (state.fast, state.slow):
            for row, entity in np.argwhere(smooth.run >= needed).tolist():
                size = abs(float(smooth.mean[row, entity]))
                cell = Cell(
                    row=row,
                    entity=entity,
                    deviations=size / max(float(smooth.usual[row, entity]), 1e-6),
                    onset=state.time - float(smooth.run[row, entity]),
                    lasted=float(smooth.run[row, entity]) / float(needed[row, 0]),
                )
                known = strongest.get((row, entity))
                if known is None or known[0].deviations < cell.deviations:
                    strongest[row, entity] = (cell, smooth)
        yield from strongest.values()

    def _moved_itself(self, state: Watch, smooth: Smoothed, cell: Cell) -> bool:
        distance = float(smooth.mean[cell.row, cell.entity])
        usual = float(state.offset[cell.row, cell.entity]) + _at(state.common.level, cell)
        moved = float(state.recent.last[cell.row, cell.entity]) - usual
        return bool(moved * np.sign(distance) >= self.own_share * abs(distance))

    def _settled(self, state: Watch, host: int) -> bool:
        """Was the host named long enough ago that a group would have shown itself by now?"""
        alarm = state.alarms.get(host)
        return alarm is not None and state.time - alarm.time > self.same_time_s

    def _stands_alone(self, state: Watch, smooth: Smoothed, cell: Cell) -> bool:
        """Is the cell's host well beyond all others, but for one in a large job?

        Hosts that were named for something earlier do not count.
        """
        if self._in_known_group(state, smooth, cell):
            return False
        hosts = state.panel.peers.host
        mine = hosts[cell.entity]
        distance = float(smooth.mean[cell.row, cell.entity])
        along = np.nan_to_num(smooth.mean[cell.row]) * np.sign(distance)
        before = cell.onset - self.same_time_s
        earlier = [host for host, alarm in state.alarms.items() if alarm.onset < before]
        explained = np.isin(hosts, [mine, *earlier])
        others = _largest_per_host(along[~explained], hosts[~explained])
        rank = 1 if len(np.unique(hosts)) >= self.large_group else 0
        rival = others[rank] if len(others) > rank else 0.0
        return bool(self.lead * max(rival, 0.0) <= abs(distance))

    def _in_known_group(self, state: Watch, smooth: Smoothed, cell: Cell) -> bool:
        """Did the host shift in this metric with a group that is still away with it?"""
        host = state.panel.hosts[cell.entity]
        for shift in state.fleet_wide:
            if shift.metric != state.panel.metrics[cell.row] or host not in shift.hosts:
                continue
            distance = float(smooth.mean[cell.row, cell.entity])
            away = smooth.mean[cell.row] * np.sign(distance) > 0.3 * abs(distance)
            others = {state.panel.hosts[i] for i in np.flatnonzero(away)} & set(shift.hosts)
            began_before = shift.start <= cell.onset + 2 * self.same_time_s
            if began_before and len(others - {host}) >= self._group_size(state) - 1:
                return True
        return False

    def _group_size(self, state: Watch) -> int:
        """From how many hosts on a shift is shared; in a small job two are a quarter of it."""
        job = len(np.unique(state.panel.peers.host))
        return self.shared_hosts if job >= self.large_group else 2

    def _shared(self, state: Watch, smooth: Smoothed, cell: Cell) -> bool:
        """Do several hosts show the cell's shift? They are noted as a group, none is named for it.

        Where they cross the bound one after the other, the first is named and then taken back.
        """
        distance = float(smooth.mean[cell.row, cell.entity])
        along = np.nan_to_num(smooth.mean[cell.row]) * np.sign(distance)
        together = along > 0.5 * abs(distance)
        needed = self._group_size(state)
        if self._in_known_group(state, smooth, cell):
            return True
        if len(np.unique(state.panel.peers.host[together])) < needed:
            return False
        self._note_group(state, cell, along, together)
        return True

    def _note_group(self, state: Watch, cell: Cell, along: FloatArray, together: BoolArray) -> None:
        """Hosts that shift together are one finding, which grows while more of them join."""
        names = tuple(dict.fromkeys(state.panel.hosts[i] for i in np.flatnonzero(together)))
        metric = state.panel.metrics[cell.row]
        for index, known in enumerate(state.fleet_wide):
            if known.metric == metric and known.hosts:
                joined = tuple(dict.fromkeys((*known.hosts, *names)))
                state.fleet_wide[index] = replace(known, hosts=joined)
                return
        change = float(np.expm1(np.median(along[together])))
        state.fleet_wide.append(FleetShift(metric, cell.onset, None, change, names))

    def _enough(self, cells: list[Cell], limit: float) -> bool:
        """One strong cell soon, a weaker one or several together after `patience` times as long."""
        strongest = max(cell.deviations for cell in cells)
        together = sum({cell.row: cell.deviations for cell in cells}.values())
        if strongest >= self.strong * limit or together >= 2 * self.strong * limit:
            return True
        patient = [cell for cell in cells if cell.lasted >= self.patience]
        several = len({cell.row for cell in patient}) >= 2
        return several or any(cell.deviations >= limit for cell in patient)

    def _note(self, state: Watch, host: int, cells: list[Cell], limit: float) -> None:
        alarm = state.alarms.get(host)
        if alarm is None:
            book = state.alarms if self._enough(cells, limit) else state.near
            onset = min(cell.onset for cell in cells)
            alarm = book.setdefault(host, Alarm(state.time, onset, state.time))
            alarm.last_hot = state.time
        for cell in cells:
            known = alarm.shifts.get((cell.row, cell.entity))
            if known is None or known[0] < cell.deviations:
                alarm.shifts[cell.row, cell.entity] = _picture(state, cell)


def _still_away(state: Watch, cell: Cell) -> bool:
    """Is the cell away at this moment, and not only in the memory of the long mean?"""
    at = cell.row, cell.entity
    if state.fast.run[at] > 0:
        return True
    along = state.fast.mean[at] * np.sign(state.slow.mean[at])
    return bool(along > 0.5 * abs(state.slow.mean[at]))


def _at(column: FloatArray, cell: Cell) -> float:
    """The cell's value in an array that may have one column for all entities."""
    return float(column[cell.row, cell.entity if column.shape[1] > 1 else 0])


def _largest_per_host(sizes: FloatArray, hosts: np.ndarray) -> list[float]:
    """The largest size of each host, descending."""
    largest: dict[int, float] = {}
    for size, host in zip(sizes.tolist(), hosts.tolist(), strict=True):
        largest[host] = max(size, largest.get(host, -np.inf))
    return sorted(largest.values(), reverse=True)


def _picture(state: Watch, cell: Cell) -> tuple[float, float, float, float]:
    """Deviations with their sign; value, usual value and the peers' value in the metric's unit."""
    level = _at(state.common.level, cell)
    away = _at(state.common.mean, cell)
    offset = float(state.offset[cell.row, cell.entity])
    distance = float(state.fast.mean[cell.row, cell.entity])
    undo = state.scaling.undo
    return (
        cell.deviations,
        undo(offset + level + away + distance, cell.row),
        undo(offset + level, cell.row),
        undo(offset + level + away, cell.row),
    )


def _suspect(state: Watch, host: int, alarm: Alarm, *, named: bool) -> HostSuspect:
    panel = state.panel
    ordered = sorted(alarm.shifts.items(), key=lambda item: -item[1][0])
    strength = sum(min(shift[0], 40.0) for _, shift in ordered)
    score = 1 - np.exp(-strength / 8.0)
    entity = next(i for i, number in enumerate(panel.peers.host) if number == host)
    return HostSuspect(
        host=panel.hosts[entity],
        score=float(score if named else 0.3 * score),
        onset=alarm.onset,
        alarm_time=alarm.time if named else None,
        recovered=alarm.recovered,
        metrics=tuple(
            MetricShift(
                metric=panel.metrics[row],
                deviations=float(np.copysign(deviations, value - peers)),
                value=value,
                usual=usual,
                peers=peers,
                device=panel.devices[column],
                implicates=panel.definitions[row].implicates,
            )
            for (row, column), (deviations, value, usual, peers) in ordered
        ),
    )
