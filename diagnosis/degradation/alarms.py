"""From cells that are out of bounds to hosts that are named, and to groups that are not."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from diagnosis.degradation.cells import Cell, held_cells, picture, still_away, value_at
from diagnosis.degradation.groups import GroupRule
from diagnosis.degradation.state import Alarm, Watch


@dataclass(frozen=True)
class AlarmRule:
    """Name a host for one metric beyond the full bound, or several beyond a share of it.

    What is `strong` times beyond the bound speaks at once, the rest after `patience` times as long,
    alone after `alone_patience` times. What came and went before has to stay `again` times as long
    as then, but for counters, which flap; and what moves by nature on the host that writes
    checkpoints `writer_patience` times as long.

    A cell speaks for its host only when the host itself has moved (`own_share` of the distance) and
    shifts alone; a group's shift outweighs what the host shows by itself, unless that is at least
    `own_evidence` as strong.
    """

    hold_s: float
    activity_hold_s: float
    own_share: float = 0.4
    strong: float = 1.5
    patience: float = 2.0
    alone_patience: float = 3.0
    close_s: float = 300.0
    own_evidence: float = 0.35
    again: float = 1.5
    writer_patience: float = 3.0
    groups: GroupRule = field(default_factory=GroupRule)

    def __call__(self, state: Watch, limit: float) -> None:
        """Open, keep up and close alarms in the state; `limit` is the full bound in deviations."""
        by_host: dict[int, list[Cell]] = {}
        shared: dict[int, float] = {}
        held = list(self._held(state))
        crowded = self.groups.crowded_rows(state, held)
        for cell in held:
            host = int(state.panel.peers.host[cell.entity])
            if cell.row in crowded or not self._moved_itself(state, cell):
                continue
            if self._settled(state, host) or self.groups.stands_alone(state, cell):
                by_host.setdefault(host, []).append(cell)
            elif self.groups.shared(state, cell):
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
        self.groups.close(state)

    def _date_recoveries(self, state: Watch, by_host: Mapping[int, list[Cell]]) -> None:
        for host, alarm in state.alarms.items():
            if any(still_away(state, cell) for cell in by_host.get(host, ())):
                alarm.last_hot, alarm.recovered = state.time, None
            elif alarm.recovered is None and state.time - alarm.last_hot > self.close_s:
                alarm.recovered = alarm.last_hot

    def _held(self, state: Watch) -> Iterator[Cell]:
        """Cells that have been away for long enough to be looked at."""
        activity = state.scaling.activity
        needed = np.where(activity, self.activity_hold_s, self.hold_s).astype(np.float32)
        writes = activity & (state.panel.peers.host == state.panel.writer)
        needed = np.where(writes, np.float32(self.writer_patience) * needed, needed)
        before = self.again * state.excursions.longest
        before[state.scaling.abnormal[:, 0]] = 0.0
        return held_cells(state, needed, before)

    def _moved_itself(self, state: Watch, cell: Cell) -> bool:
        """Did the host move, or only its peers?"""
        usual = float(state.offset[cell.row, cell.entity]) + value_at(state.common.level, cell)
        moved = float(state.recent.last[cell.row, cell.entity]) - usual
        return bool(moved * np.sign(cell.distance) >= self.own_share * cell.size)

    def _settled(self, state: Watch, host: int) -> bool:
        """Was the host named long enough ago that a group would have shown itself by now?"""
        alarm = state.alarms.get(host)
        return alarm is not None and state.time - alarm.time > self.groups.same_time_s

    def _enough(self, cells: list[Cell], limit: float) -> bool:
        """One strong cell soon, several weaker ones later, a weaker one alone last of all."""
        strongest = max(cell.deviations for cell in cells)
        together = sum({cell.row: cell.deviations for cell in cells}.values())
        if strongest >= self.strong * limit or together >= 2 * self.strong * limit:
            return True
        patient = [cell for cell in cells if cell.lasted >= self.patience]
        if len({cell.row for cell in patient}) >= 2:
            return True
        return any(
            cell.deviations >= limit and cell.lasted >= self.alone_patience for cell in patient
        )

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
                alarm.shifts[cell.row, cell.entity] = picture(state, cell)
