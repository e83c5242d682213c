"""What the robust detector keeps between two ticks: a few small arrays and the open alarms."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from diagnosis.core.metrics import FloatArray
from diagnosis.degradation.answers import FleetShift
from diagnosis.degradation.blanks import Blanks
from diagnosis.degradation.catalogue import MetricDefinition
from diagnosis.degradation.peers import Peers
from diagnosis.degradation.recent import Recent
from diagnosis.degradation.scaling import BoolArray, Scaling


@dataclass(frozen=True)
class Panel:
    """What is watched: names, definitions and peers of a window, fixed while it is watched.

    `writer` is the number of the host of rank 0, which writes checkpoints; -1 where no placement
    tells it. `definitions` has those of blends after those of the metrics.
    """

    metrics: tuple[str, ...]
    hosts: tuple[str, ...]
    devices: tuple[str | None, ...]
    definitions: tuple[MetricDefinition, ...]
    peers: Peers
    writer: int = -1

    @cached_property
    def blanks(self) -> Blanks:
        """What makes zeros that cannot be into missing samples."""
        return Blanks.of(self.definitions[: len(self.metrics)])

    def name(self, row: int) -> str:
        """The metric of a row as it was told, or the blend's name."""
        return self.metrics[row] if row < len(self.metrics) else self.definitions[row].id


@dataclass
class Smoothed:
    """An exponential mean of every cell's distance to its peers, and how it usually varies.

    All arrays are (metrics, entities): `mean` and its usual `variance` on the common scale; `usual`
    the deviation that it is measured in now, `edge` the bound that follows; `run` the seconds for
    which it has been out of bounds without a break, `fresh` how many values were new meanwhile.
    `tail`, (metrics, 1), is how many deviations
    the metric's foremost hosts have been away of late: noise with heavy tails shows itself there.
    """

    mean: FloatArray
    variance: FloatArray
    usual: FloatArray
    edge: FloatArray
    run: FloatArray
    fresh: FloatArray
    tail: FloatArray


@dataclass
class Common:
    """What the peers do together, (metrics, groups broadcast to entities or 1).

    `level` is the usual height, `mean` the present distance to it, `variance` how that usually
    varies, `run` the seconds for which it has been away, `stirred` the seconds since the start of
    the state when it was last further away than matters, `drift` how far the level moved of late,
    `last` the newest distance to the level.
    """

    level: FloatArray
    mean: FloatArray
    variance: FloatArray
    run: FloatArray
    stirred: FloatArray
    drift: FloatArray
    last: FloatArray


@dataclass
class Jumps:
    """How far cells of a small group jump between samples: now and usually, (metrics, 1)."""

    last: FloatArray
    mean: FloatArray
    usual: FloatArray


@dataclass
class Excursions:
    """What cells did before and came back from, (metrics, entities).

    `longest` is the length in seconds of the longest strong excursion that ended by itself;
    `strong` marks those under way, `run` their length at the last look.
    """

    longest: FloatArray
    strong: BoolArray
    run: FloatArray


@dataclass
class Alarm:
    """A host that was named: when, since when, and how far each of its metrics went."""

    time: float
    onset: float
    last_hot: float
    shifts: dict[tuple[int, int], tuple[float, float, float, float]] = field(default_factory=dict)
    recovered: float | None = None


@dataclass
class Watch:
    """The detector's state; (metrics, entities) arrays are in the order of `panel.peers`.

    `offset` is each cell's usual position over what its peers do together, `age` the seconds of own
    past behind it, `every` (metrics, 1) the seconds between two new values of a metric; `recent`
    holds the last two samples; `turned` is when the fleet last turned as a whole, `left` when it
    left its usual level, `elsewhere` when it was last seen away from it, `moved` when it last went
    elsewhere between two samples; `turning` is when the turns of late began, `woke` when one was
    last the reason not to judge a metric as usual. `advance` changes a state in place.
    """

    panel: Panel
    scaling: Scaling
    start: float
    time: float
    offset: FloatArray
    age: FloatArray
    every: FloatArray
    recent: Recent
    fast: Smoothed
    slow: Smoothed
    common: Common
    excursions: Excursions
    jumps: Jumps | None = None
    turned: float = -np.inf
    left: float = -np.inf
    elsewhere: float = -np.inf
    moved: float = -np.inf
    turning: float = -np.inf
    woke: float = -np.inf
    alarms: dict[int, Alarm] = field(default_factory=dict)
    near: dict[int, Alarm] = field(default_factory=dict)
    fleet_wide: list[FleetShift] = field(default_factory=list)
    step: float = 0.0
    ticks: int = 0
    youngest: float = 0.0
