"""`make accuracy`: precision, recall and top-1 per fault kind, on seeds nobody tuned on."""

import sys
from collections.abc import Callable, Iterable

from benchmarks.hangs import hangs
from benchmarks.scoring import Case, Score, fleets, rough_fleets
from diagnosis.degradation.answers import Judgement
from diagnosis.degradation.detectors import DEFAULT_DETECTOR, DETECTORS

PER_KIND, HEALTHY = 3, 42
HOSTS = 64
HANGS, HANG_HOSTS = 10, 4


def main() -> None:
    judge = DETECTORS[DEFAULT_DETECTOR].judge
    _table("simulated fleets", fleets(hosts=HOSTS, per_kind=PER_KIND, healthy=HEALTHY), judge)
    _table("rough fleets", rough_fleets(per_kind=PER_KIND, healthy=HEALTHY), judge)
    sys.stdout.write(f"{'progress reports':24s} jobs  seen in 3 min  top-1  false  slowest\n")
    for scenario, stopped in hangs(seeds=HANGS, hosts=HANG_HOSTS):
        sys.stdout.write(
            f"{scenario:24s} {stopped.jobs:4d}  {stopped.seen:13d}  {stopped.first:5d}  "
            f"{stopped.false_alarms:5d}  {stopped.slowest:5.0f} s\n"
        )


def _table(title: str, cases: Iterable[Case], judge: Callable[..., Judgement]) -> None:
    by_kind: dict[str, Score] = {}
    for window, truth, placement in cases:
        found = by_kind.setdefault(truth.kind or "healthy", Score())
        found.add(window, truth, judge(window, placement=placement))
    sys.stdout.write(f"{title:24s} windows  precision  recall  top-1  median delay\n")
    for kind, found in by_kind.items():
        sys.stdout.write(_line(kind, found))
    sys.stdout.write("\n")


def _line(kind: str, found: Score) -> str:
    if kind == "healthy":
        return (
            f"{kind:24s} {found.healthy:7d}  {found.healthy_alarmed} alarmed, "
            f"{found.false_alarms:.2f} false alarms per 1,000 host-hours\n"
        )
    delay = found.delay(0.5)
    late = "-" if delay is None else f"{delay:.0f} s"
    return (
        f"{kind:24s} {found.faults:7d}  {found.precision:9.2f}  {found.recall:6.2f}  "
        f"{found.top1:5.2f}  {late:>12s}\n"
    )


if __name__ == "__main__":
    main()
