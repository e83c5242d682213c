"""For how long cells have been out of bounds, and what they came back from by themselves."""

import numpy as np
import numpy.typing as npt

from diagnosis.core.metrics import FloatArray
from diagnosis.degradation.scaling import BoolArray
from diagnosis.degradation.state import Smoothed, Watch

Cells = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]

#: A sample says that its cell is still away from this share of the bound on.
_STILL_THERE = np.float32(0.5)
#: What a counter's sample counts that is the same as the one before.
_PLATEAU = np.float32(0.25)
#: A new height that is still out of bounds makes up for so many samples of standing before it.
_LONGEST = np.float32(3.0)
#: That is believed from so many times the bound on.
_FAR = np.float32(2.5)
#: An excursion this far beyond the bound is none of chance.
_STRONG = 1.3
#: Excursions are forgotten in about so many seconds; what this share of hosts does is no excursion.
_FORGOTTEN_S, _TOGETHER = 7200.0, 0.25


def count(
    state: Watch,
    smooth: Smoothed,
    hot: BoolArray,
    missing: BoolArray | None,
    seconds: float,
    apart: FloatArray | None = None,
) -> None:
    """Count `seconds` more for `hot` cells, and begin again for the others.

    With `apart`, the newest samples, each counts for what it says by itself.
    """
    cells = cells_of(hot)
    before, fresh = smooth.run[cells], smooth.fresh[cells]
    smooth.run.fill(0.0)
    smooth.fresh.fill(0.0)
    if not len(before):
        return
    more = np.full(len(before), seconds, np.float32)
    if apart is not None:
        more *= _news(state, apart, cells)
    smooth.run[cells] = before + (more if missing is None else more * ~missing[cells])
    since = np.float32(state.time + state.step - state.start - seconds)
    is_new = (before > 0) & (state.recent.moved[cells] | (state.recent.changed[cells] > since))
    smooth.fresh[cells] = fresh + is_new


def cells_of(marked: BoolArray) -> Cells:
    """Rows and columns of the cells that are marked, which are few."""
    rows, columns = np.divmod(np.flatnonzero(marked), marked.shape[1])
    return rows, columns


def _news(state: Watch, apart: FloatArray, cells: Cells) -> FloatArray:
    """How much the samples of some cells say, in samples, (cells,).

    What is back already says nothing. A counter that stands at one height has counted one burst: a
    rate over a window shows it as a plateau. The next height says that it goes on.
    """
    mean, edge = state.fast.mean[cells], state.fast.edge[cells]
    news = (apart[cells] * np.sign(mean) > _STILL_THERE * edge).astype(np.float32)
    counts, moved = state.scaling.abnormal[cells[0], 0], state.recent.moved[cells]
    news[counts & ~moved] *= _PLATEAU
    fresh = counts & moved & (np.abs(mean) > _FAR * edge)
    now = state.time + state.step - state.start
    stood = (now - state.recent.changed[cells][fresh]) / max(state.step, 1e-9)
    news[fresh] *= 1 + (1 - _PLATEAU) * (stood.clip(1.0, _LONGEST).astype(np.float32) - 1)
    return news


def remember(state: Watch, asleep: BoolArray, seconds: float) -> None:
    """Note how long a cell was strongly out of bounds before it came back by itself.

    `asleep` (metrics,) marks what is not judged now; `seconds` have passed since the last look.
    """
    known, run = state.excursions, state.fast.run
    known.longest *= np.float32(np.exp(-seconds / _FORGOTTEN_S))
    ended = known.strong & (run == 0)
    if bool(ended.any()):
        ended[asleep | (known.strong.mean(axis=1) > _TOGETHER)] = False
        known.longest[ended] = np.maximum(known.longest, known.run)[ended]
    under_way = cells_of(run > 0)
    far = np.abs(state.fast.mean[under_way]) > np.float32(_STRONG) * state.fast.edge[under_way]
    far |= known.strong[under_way]
    known.strong.fill(False)
    known.strong[under_way] = far
    known.run = run.copy()
