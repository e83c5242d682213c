"""From cells that are out of bounds to hosts that are named, and to groups that are not."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from diagnosis.core.metrics import FloatArray
from diagnosis.degradation.cells import Cell, held_cells, picture, still_away
from diagnosis.degradation.groups import GroupRule
from diagnosis.degradation.state import Alarm, Watch
from diagnosis.degradation.stuck import moved_itself


@dataclass(frozen=True)
class AlarmRule:
    """Name a host for one metric beyond the full bound, or several beyond a share of it.

    What is `strong` times beyond the bound speaks after the time that is asked for; what is less
    far waits, up to `patience` times as long for several metrics, `alone_patience` times for one;
    what is further speaks sooner (`haste` is the exponent), though never before `swift` of the time
    and a second value. Counters burst, and a server's rate spreads a burst over its window: alone
    they wait for all of that below `strong_counts`, for the time that is asked for from there on,
    and never speak below `least_counts`; `fresh_counts` samples are asked of them. What moves by
    nature speaks before its time only together with what does not; nothing tells of a group before
    its time.

    What came and went before has to stay `again` times as long as then, but for counters, which
    flap; and what moves by nature on the host that writes checkpoints `writer_patience` times as
    long. What `several` hosts did and came back from counts like the host's own past. A value that
    repeats itself is a second one after `fresh_values` times as long as it takes for a new one.

    A gauge that is away within `waking_s` of a rest has been since the turn of the fleet that the
    rest followed, where that lies at most `longest_turn_s` back: nobody judged it meanwhile.

    A cell speaks for its host only when the host itself has moved (`own_share` of the distance) and
    shifts alone; a group's shift outweighs what the host shows by itself, unless that is at least
    `own_evidence` as strong.
    """

    hold_s: float
    activity_hold_s: float
    own_share: float = 0.4
    strong: float = 1.5
    strong_counts: float = 2.0
    least_counts: float = 1.3
    swift: float = 0.38
    haste: float = 1.5
    patience: float = 2.0
    alone_patience: float = 3.0
    close_s: float = 300.0
    own_evidence: float = 0.35
    again: float = 1.5
    writer_patience: float = 3.0
    fresh_values: float = 1.6
    fresh_counts: float = 4.9
    several: int = 3
    waking_s: float = 60.0
    longest_turn_s: float = 300.0
    groups: GroupRule = field(default_factory=GroupRule)

    def __call__(self, state: Watch, limit: float) -> None:
        """Open, keep up and close alarms in the state; `limit` is the full bound in deviations."""
        by_host: dict[int, list[Cell]] = {}
        shared: dict[int, float] = {}
        held = self._held(state)
        crowded = self.groups.crowded_rows(state, held)
        if held:
            crowded |= self.groups.explained_rows(state)
        for cell in held:
            host = int(state.panel.peers.host[cell.entity])
            if cell.row in crowded or not moved_itself(state, cell, self.own_share):
                continue
            if self._settled(state, host) or self.groups.stands_alone(state, cell):
                by_host.setdefault(host, []).append(cell)
            elif cell.lasted >= 1 and self.groups.shared(state, cell):
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

    def _held(self, state: Watch) -> list[Cell]:
        """Cells that have been away for long enough to be looked at."""
        if max(state.fast.run.max(), state.slow.run.max()) < self.swift * self.hold_s:
            return []
        needed = self._needed(state)
        soonest = np.float32(self.swift) * needed
        if not bool(((state.fast.run >= soonest) | (state.slow.run >= soonest)).any()):
            return []
        before = self.again * self._known_lengths(state)
        before[state.scaling.abnormal[:, 0]] = 0.0
        unmoved = np.float32(self.fresh_values) * state.every
        return list(held_cells(state, needed, before, soonest, unmoved))

    def _needed(self, state: Watch) -> FloatArray:
        """Seconds that each cell has to be away; of a counter so many samples."""
        activity = state.scaling.activity
        needed = np.where(activity, self.activity_hold_s, self.hold_s).astype(np.float32)
        writes = activity & (state.panel.peers.host == state.panel.writer)
        needed = np.where(writes, np.float32(self.writer_patience) * needed, needed)
        counts = np.where(state.scaling.abnormal, self.fresh_counts * state.every, 0.0)
        longer: FloatArray = np.maximum(needed, counts.astype(np.float32))
        return longer

    def _known_lengths(self, state: Watch) -> FloatArray:
        """The longest excursion that came and went: the cell's own, or one of several hosts."""
        longest = state.excursions.longest
        hosts = longest.shape[1]
        if hosts < self.groups.large_group:
            return longest.copy()
        others = np.partition(longest, hosts - self.several, axis=1)[:, [hosts - self.several]]
        return np.maximum(longest, others)

    def _settled(self, state: Watch, host: int) -> bool:
        """Was the host named long enough ago that a group would have shown itself by now?"""
        alarm = state.alarms.get(host)
        return alarm is not None and state.time - alarm.time > self.groups.same_time_s

    def _enough(self, state: Watch, cells: list[Cell], limit: float) -> bool:
        """The further a cell is, or several together are, the sooner is it certain."""
        by_nature = state.scaling.activity[:, 0]
        told = [cell for cell in cells if cell.row < len(state.panel.metrics)]
        if all(by_nature[cell.row] for cell in told):
            told = [cell for cell in told if cell.lasted >= 1]
        return self._one_is_enough(state, cells, limit) or any(
            self._are_enough(told, cell.lasted, limit) for cell in told
        )

    def _one_is_enough(self, state: Watch, cells: list[Cell], limit: float) -> bool:
        for cell in cells:
            size, least, strong = cell.deviations / limit, 1.0, self.strong
            if bool(state.scaling.activity[cell.row, 0]) and cell.lasted < 1:
                continue
            most = self.patience if cell.row >= len(state.panel.metrics) else self.alone_patience
            if bool(state.scaling.abnormal[cell.row, 0]):
                least, strong = self.least_counts, self.strong_counts
                waits = 1.0 if size >= strong else self.alone_patience
            elif size >= strong:
                waits = (strong / size) ** self.haste
            else:
                waits = 1 + (most - 1) * (strong - size) / (strong - 1)
            if size >= least and cell.lasted >= max(waits, self.swift):
                return True
        return False

    def _are_enough(self, cells: list[Cell], lasted: float, limit: float) -> bool:
        rows = {cell.row: cell.deviations for cell in cells if cell.lasted >= lasted}
        short = (2 * self.strong - sum(rows.values()) / limit) / (2 * self.strong - 1.4)
        waits = max(1 + (self.patience - 1) * short, self.swift)
        return len(rows) > 1 and short <= 1 and lasted >= waits

    def _note(self, state: Watch, host: int, cells: list[Cell], limit: float) -> None:
        alarm = state.alarms.get(host)
        if alarm is None:
            enough = self._enough(state, cells, limit)
            if not enough and all(cell.lasted < 1 for cell in cells):
                return
            book = state.alarms if enough else state.near
            onset = min(self._onset(state, cell) for cell in cells)
            alarm = book.setdefault(host, Alarm(state.time, onset, state.time))
            alarm.last_hot = state.time
        for cell in cells:
            for told in _as_told(state, cell):
                known = alarm.shifts.get((told.row, told.entity))
                if known is None or known[0] < told.deviations:
                    alarm.shifts[told.row, told.entity] = picture(state, told)

    def _onset(self, state: Watch, cell: Cell) -> float:
        """When the cell left, or when the whole fleet turned, where it cannot be told apart."""
        waking = cell.onset - state.woke <= self.waking_s
        near = 0 <= cell.onset - state.turning <= self.longest_turn_s
        if waking and near and not bool(state.scaling.abnormal[cell.row, 0]):
            return state.turning
        return cell.onset


def _as_told(state: Watch, cell: Cell) -> Iterator[Cell]:
    """The cell itself; of a blend the metrics that it is made of, as far as each of them went."""
    told = len(state.panel.metrics)
    if cell.row < told:
        yield cell
        return
    for row in state.scaling.blends[cell.row - told].rows.tolist():
        at = row, cell.entity
        away = abs(float(cell.smooth.mean[at] / cell.smooth.usual[at]))
        yield replace(cell, row=row, deviations=away)
