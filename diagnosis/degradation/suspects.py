"""Alarms as suspects, the strongest first."""

import numpy as np

from diagnosis.degradation.answers import HostSuspect, MetricShift
from diagnosis.degradation.state import Alarm, Watch


def suspects_of(state: Watch) -> tuple[HostSuspect, ...]:
    """Named hosts, the strongest first; where there is none, those that came near the bar."""
    named = bool(state.alarms)
    found = state.alarms if named else state.near
    suspects = [_suspect(state, host, alarm, named=named) for host, alarm in found.items()]
    return tuple(sorted(suspects, key=lambda item: -item.score))


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
