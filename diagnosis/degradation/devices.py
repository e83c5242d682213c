"""Which device of a host it is: the one that changed where its siblings did not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from diagnosis.core.metrics import MetricWindow
from diagnosis.core.target import normalise_host
from diagnosis.degradation.answers import HostSuspect, Judgement

#: Host (normalised) and metric → the device that the shift sits on.
Devices = Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class DeviceRule:
    """A device is named when it changed at least `lead` times as much as any sibling.

    Change is the distance of the medians before and after the onset. A host's only device is named
    without a comparison.
    """

    lead: float = 2.0

    def __call__(self, window: MetricWindow, onset: float) -> Devices:
        """The devices in a window per device that begins before `onset` (seconds since 1970)."""
        before, after = window.time < onset, window.time >= onset
        found: dict[tuple[str, str], str] = {}
        if not before.any() or not after.any():
            return found
        for host in window.host_names:
            columns = [i for i, name in enumerate(window.hosts) if name == host]
            named = [i for i in columns if window.devices[i] is not None]
            for row, metric in enumerate(window.metrics):
                values = window.values[row, named]
                told = np.asarray(np.isfinite(values[:, before]).any(axis=1))
                told &= np.isfinite(values[:, after]).any(axis=1)
                if not told.any():
                    continue
                there = [i for i, here in zip(named, told, strict=True) if here]
                change = np.abs(
                    np.nanmedian(values[told][:, after], axis=1)
                    - np.nanmedian(values[told][:, before], axis=1)
                )
                first = int(np.argmax(change))
                others = np.delete(change, first)
                if change[first] > 0 and (change[first] >= self.lead * others).all():
                    found[normalise_host(host), metric] = str(window.devices[there[first]])
        return found


def with_devices(judgement: Judgement, devices: Devices) -> Judgement:
    """The judgement with the devices that its shifts sit on."""
    return replace(
        judgement, suspects=tuple(_named(suspect, devices) for suspect in judgement.suspects)
    )


def _named(suspect: HostSuspect, devices: Devices) -> HostSuspect:
    host = normalise_host(suspect.host)
    return replace(
        suspect,
        metrics=tuple(
            replace(shift, device=devices.get((host, shift.metric), shift.device))
            for shift in suspect.metrics
        ),
    )
