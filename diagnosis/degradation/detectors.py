"""The detectors by name: one interface, so that they can be compared on the same data."""

from collections.abc import Mapping
from typing import Protocol

from diagnosis.core.metrics import MetricWindow
from diagnosis.core.placement import Placement
from diagnosis.degradation.answers import Judgement
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.contrast import WindowContrast
from diagnosis.degradation.detector import Detector
from diagnosis.degradation.paper import PaperRule


class WindowJudge(Protocol):
    """Anything that judges a metric window."""

    @property
    def name(self) -> str: ...

    def judge(
        self,
        window: MetricWindow,
        *,
        placement: Placement | None = None,
        catalogue: Catalogue | None = None,
    ) -> Judgement:
        """Faulty, healthy or cannot tell, with suspects and reasons; never raises on data."""
        ...


DETECTORS: Mapping[str, WindowJudge] = {
    judge.name: judge for judge in (Detector(), WindowContrast(), PaperRule())
}
DEFAULT_DETECTOR = Detector().name
