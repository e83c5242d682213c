"""What was handed in about a running job's slowness, judged beside what the watch sees itself."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from diagnosis.collectives.counters_verdict import localise_sheet
from diagnosis.collectives.procedure import localise
from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement
from diagnosis.core.words import IncidentKind
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.kept_windows import conclude_metrics
from diagnosis.fusion import fuse
from diagnosis.readers.counter_sources import read_counters
from diagnosis.readers.flight_recorder import read_dumps
from diagnosis.readers.sorted_evidence import sort_by_kind
from diagnosis.services.evidence import evidence_of
from diagnosis.services.kept_windows import SUFFIX
from diagnosis.services.watch_situation import Situation
from incidents import selectors
from incidents.models import Attempt

#: Bytes that one look reads at most; the rest is left to the diagnosis of the incident itself.
MOST_BYTES = 64 * 1024**2


def told_by_evidence(
    attempt: Attempt, placement: Placement, catalogue: Catalogue
) -> tuple[Conclusion, ...]:
    """What operation traces, timed collectives and metric files of the open incident say is slow.

    Windows that the watch kept itself are left out: they are what it sees anyway.
    """
    incident = selectors.open_incidents_of(attempt).first()
    if incident is None:
        return ()
    files = [
        file for record, file in evidence_of(incident).values() if not record.name.endswith(SUFFIX)
    ]
    given = sort_by_kind(_within(files, MOST_BYTES))
    found, _, _ = conclude_metrics(given.metrics, placement=placement, catalogue=catalogue)
    dumps, _ = read_dumps(given.dumps) if given.dumps else ((), ())
    if dumps:
        found.append(localise(dumps, placement=placement)[0])
    sheet, _ = read_counters(given.counters)
    if sheet.rows:
        found.append(localise_sheet(sheet, placement=placement)[0])
    return tuple(one for one in found if one.verdict.kind is IncidentKind.DEGRADATION)


def _within(files: Sequence[Evidence], most: int) -> Iterator[Evidence]:
    """As many of the files as fit, the smallest first."""
    for file in sorted(files, key=lambda file: (file.size, file.name)):
        most -= file.size
        if most < 0:
            return
        yield file


def beside(situation: Situation, told: Sequence[Conclusion]) -> Situation:
    """The situation with what the evidence says: agreement makes a host surer, and where no metric
    names anyone the evidence may.
    """
    own = situation.diagnosis
    if own is None or situation.kind is not IncidentKind.DEGRADATION or not told:
        return situation
    seen = Conclusion(
        branch="metrics",
        verdict=own.verdict,
        suspects=own.suspects,
        recommendations=own.recommendations,
        trace=own.trace,
        decisive=bool(own.suspects),
    )
    answer = fuse([seen, *told], skipped=own.skipped, taxonomy_version=own.taxonomy_version)
    summary = answer.verdict.summary
    if situation.slowdown is not None and summary != own.verdict.summary:
        summary = f"{summary} {own.verdict.summary}"
    answer = replace(answer, verdict=replace(answer.verdict, summary=summary))
    return replace(situation, diagnosis=answer, summary=summary)
