"""The engine's one entry: evidence, taxonomy and placement in, an explained diagnosis out.

Pure: no database, no clock, no Django. The answer does not depend on the order of the evidence.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from diagnosis.collectives.counters_verdict import localise_sheet
from diagnosis.collectives.picture import progress_picture
from diagnosis.collectives.procedure import localise
from diagnosis.collectives.reports import localise_counters
from diagnosis.core.collectives import CollectiveProgress
from diagnosis.core.counters import CounterSheet
from diagnosis.core.diagnosis import Conclusion, Diagnosis, Skipped
from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement
from diagnosis.core.words import EvidenceKind
from diagnosis.fusion import fuse
from diagnosis.readers.compression import decompressed
from diagnosis.readers.counter_sources import read_counters
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.flight_recorder import read_dumps
from diagnosis.readers.kinds import HEAD_BYTES, kind_of, why_unknown
from diagnosis.readers.placement import read_placement
from diagnosis.taxonomy.ruleset import Taxonomy, rules_version
from diagnosis.taxonomy.suppression import Suppression
from diagnosis.triage.procedure import triage
from diagnosis.triage.settings import TriageSettings
from diagnosis.triage.suppressed import without_maintenance

#: A placement larger than this (bytes) is refused: 16,384 ranks take about 3 MB.
PLACEMENT_MAX_BYTES = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class SortedEvidence:
    """Evidence by what it holds, each list in name order, and what could not be used."""

    logs: tuple[Evidence, ...]
    dumps: tuple[Evidence, ...]
    counters: tuple[Evidence, ...]
    placement: Placement
    skipped: tuple[Skipped, ...]


def diagnose(
    evidence: Iterable[Evidence],
    *,
    placement: Placement | None = None,
    taxonomy: Taxonomy | None = None,
    suppression: Suppression = Suppression(),  # noqa: B008 - frozen
    now: float | None = None,
) -> Diagnosis:
    """Judge all evidence of one broken job.

    `placement` wins over a placement file among the evidence; without a `taxonomy` the shipped one
    is used. What `suppression` silences is told and not judged. `now` (seconds since the epoch)
    gives time stamps without a year theirs. Evidence that cannot be read ends in `skipped` with its
    reason and never raises; `judged` is False when nothing at all could be judged.
    """
    rules = taxonomy or Taxonomy.default()
    given = sort_by_kind(evidence)
    known = placement or given.placement
    settings = TriageSettings(now=now, suppression=suppression)
    logs = triage(given.logs, taxonomy=rules, placement=known, settings=settings)
    dumps, unread = read_dumps(given.dumps)
    progress: CollectiveProgress | None = None
    conclusions: list[Conclusion] = [logs.conclusion] if logs.conclusion else []
    counted = localise_counters(logs.reports, placement=known, ended_ranks=logs.ended_ranks)
    if counted:
        conclusions.append(counted)
    if dumps:
        located, progress = localise(
            dumps, placement=known, ended_ranks=logs.ended_ranks, reports=logs.reports
        )
        conclusions.append(located)
    sheet, uncounted = read_counters(given.counters)
    sheet = CounterSheet.joined([sheet, *(CounterSheet(dump.counters) for dump in dumps)])
    if sheet.rows:
        told, summed = localise_sheet(
            sheet,
            placement=known,
            ended_ranks=logs.ended_ranks,
            timed_out=any(report.timed_out for report in logs.reports.work),
        )
        conclusions.append(told)
        progress = progress or summed
    unusable = {*given.skipped, *logs.skipped, *unread, *uncounted}
    skipped = tuple(sorted(unusable, key=lambda item: item.file))
    version = rules_version(rules, suppression.rules)
    answer = fuse(conclusions, skipped=skipped, taxonomy_version=version)
    return _with_picture(without_maintenance(answer, suppression), progress)


def _with_picture(answer: Diagnosis, progress: CollectiveProgress | None) -> Diagnosis:
    if progress is None:
        return answer
    drawn = progress_picture(progress, answer.suspects, answer.verdict.summary)
    return replace(answer, pictures={"collective_progress": drawn})


def sort_by_kind(evidence: Iterable[Evidence]) -> SortedEvidence:
    """Open each piece just far enough to tell its kind; the order of the input does not matter."""
    by_kind: dict[EvidenceKind, list[Evidence]] = {}
    skipped: list[Skipped] = []
    for item in sorted(evidence, key=lambda item: item.name):
        try:
            plain = decompressed(item)
            by_kind.setdefault(kind_of(plain), []).append(plain)
        except (OSError, EOFError, ValueError) as error:
            skipped.append(Skipped(item.name, f"cannot be opened: {error}"))
    skipped += [
        Skipped(item.name, "empty: the file has no content (0 bytes)")
        for item in by_kind.get(EvidenceKind.EMPTY, [])
    ]
    skipped += [
        Skipped(item.name, why_unknown(_head(item)))
        for item in by_kind.get(EvidenceKind.UNKNOWN, [])
    ]
    skipped += [
        Skipped(item.name, "kept; topology is not used by this version's rules")
        for item in by_kind.get(EvidenceKind.TOPOLOGY, [])
    ]
    placement, unread = _first_placement(by_kind.get(EvidenceKind.PLACEMENT, []))
    return SortedEvidence(
        logs=tuple(by_kind.get(EvidenceKind.LOG, [])),
        dumps=tuple(by_kind.get(EvidenceKind.FLIGHT_RECORDER, [])),
        counters=tuple(by_kind.get(EvidenceKind.COUNTERS, [])),
        placement=placement,
        skipped=(*skipped, *unread),
    )


def _head(item: Evidence) -> bytes:
    with item.open() as stream:
        return stream.read(HEAD_BYTES)


def _first_placement(files: Sequence[Evidence]) -> tuple[Placement, list[Skipped]]:
    placement, skipped = Placement(), []
    for item in files:
        try:
            with item.open() as stream:
                content = stream.read(PLACEMENT_MAX_BYTES + 1)
            if len(content) > PLACEMENT_MAX_BYTES:
                raise UnreadableEvidence("placement is larger than 64 MiB")
            found = read_placement(content)
        except (UnreadableEvidence, OSError, EOFError) as error:
            skipped.append(Skipped(item.name, str(error)))
            continue
        if len(placement):
            skipped.append(Skipped(item.name, "a second placement; the first by name is used"))
        else:
            placement = found
    return placement, skipped
