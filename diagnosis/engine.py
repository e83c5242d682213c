"""The engine's one entry: evidence, taxonomy and placement in, an explained diagnosis out.

Pure: no database, no clock, no Django. The answer does not depend on the order of the evidence.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from diagnosis.collectives.counters_verdict import localise_sheet
from diagnosis.collectives.picture import progress_picture
from diagnosis.collectives.procedure import localise
from diagnosis.collectives.reports import localise_counters
from diagnosis.core.collectives import CollectiveProgress
from diagnosis.core.configuration import Snapshot
from diagnosis.core.counters import CounterSheet
from diagnosis.core.devices import DeviceSeat, Seats
from diagnosis.core.diagnosis import Conclusion, Diagnosis, Skipped
from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement
from diagnosis.core.topology import Topology
from diagnosis.core.words import TargetKind
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.kept_windows import conclude_metrics
from diagnosis.fusion import fuse
from diagnosis.readers.archives import unpacked
from diagnosis.readers.counter_sources import read_counters
from diagnosis.readers.flight_recorder import read_dumps
from diagnosis.readers.sorted_evidence import SortedEvidence, cut_off, sort_by_kind
from diagnosis.taxonomy.history import History
from diagnosis.taxonomy.ruleset import Taxonomy, rules_version
from diagnosis.taxonomy.suppression import Suppression
from diagnosis.triage.config_check import conclude_configuration
from diagnosis.triage.network import conclude_network
from diagnosis.triage.offenders import with_offenders
from diagnosis.triage.procedure import triage
from diagnosis.triage.settings import TriageSettings
from diagnosis.triage.suppressed import without_maintenance

__all__ = ["diagnose", "sort_by_kind"]


def diagnose(
    evidence: Iterable[Evidence],
    *,
    placement: Placement | None = None,
    topology: Topology | None = None,
    taxonomy: Taxonomy | None = None,
    catalogue: Catalogue | None = None,
    suppression: Suppression = Suppression(),  # noqa: B008 - frozen
    history: History = History(),  # noqa: B008 - frozen
    now: float | None = None,
) -> Diagnosis:
    """Judge all evidence of one broken job.

    `placement` wins over such files among the evidence, which complete the `topology`. Without a
    `taxonomy` or a `catalogue` of metrics the shipped ones are used. What `suppression` silences is
    told and not judged. `history` knows what befell the same parts before. `now` (seconds since the
    epoch) gives time stamps without a year theirs. Evidence that cannot be read ends in `skipped`
    with its reason and never raises; `judged` is False when nothing could be judged. Archives are
    unpacked, each member a file of its own.
    """
    with unpacked(evidence) as files:
        return _judged(
            sort_by_kind(files.evidence),
            files.skipped,
            placement=placement,
            topology=topology or Topology(),
            rules=taxonomy or Taxonomy.default(),
            catalogue=catalogue,
            suppression=suppression,
            history=history,
            now=now,
        )


def _judged(
    given: SortedEvidence,
    left_out: Sequence[Skipped],
    *,
    placement: Placement | None,
    topology: Topology,
    rules: Taxonomy,
    catalogue: Catalogue | None,
    suppression: Suppression,
    history: History,
    now: float | None,
) -> Diagnosis:
    """The answer from evidence that was sorted; `left_out`: what of the archives was not read."""
    known = placement or given.placement
    seats = _seats(given.snapshots, known)
    history = replace(history, seats=Seats((*seats, *history.seats.rows)))
    settings = TriageSettings(now=now, suppression=suppression, history=history)
    logs = triage(given.logs, taxonomy=rules, placement=known, settings=settings)
    dumps, unread = read_dumps(given.dumps)
    progress: CollectiveProgress | None = None
    conclusions: list[Conclusion] = [logs.conclusion] if logs.conclusion else []
    counted = localise_counters(logs.reports, placement=known, ended_ranks=logs.ended_ranks)
    if counted:
        conclusions.append(counted)
    wired = topology.with_more(given.topology)
    network = conclude_network(given.probes, wired, settings)
    drift = conclude_configuration(given.snapshots, logs.symptoms, settings)
    conclusions += [one for one in (drift, network) if one is not None]
    if dumps:
        located, progress = localise(
            dumps, placement=known, ended_ranks=logs.ended_ranks, reports=logs.reports
        )
        conclusions.append(located)
    sheet, uncounted = read_counters(given.counters)
    sheet = CounterSheet.joined([sheet, *(CounterSheet(dump.counters) for dump in dumps)])
    if sheet.rows:
        summed_up, summed = localise_sheet(
            sheet,
            placement=known,
            ended_ranks=logs.ended_ranks,
            timed_out=any(report.timed_out for report in logs.reports.work),
        )
        conclusions.append(summed_up)
        progress = progress or summed
    metrics, drawn, unplotted = conclude_metrics(
        given.metrics, placement=known, catalogue=catalogue
    )
    conclusions += metrics
    unusable = {*left_out, *given.skipped, *logs.skipped, *unread, *uncounted, *unplotted}
    unusable |= set(cut_off(given, unusable))
    skipped = tuple(sorted(unusable, key=lambda item: item.file))
    version = rules_version(rules, suppression.rules)
    answer = fuse(conclusions, skipped=skipped, taxonomy_version=version)
    answer = with_offenders(without_maintenance(answer, suppression), history)
    answer = replace(answer, sightings=logs.sightings, seats=(*seats, *logs.seats))
    return _with_pictures(answer, progress, drawn)


def _seats(snapshots: Sequence[Snapshot], placement: Placement) -> tuple[DeviceSeat, ...]:
    """The devices that configuration snapshots and the placement name."""
    told = [seat for snapshot in snapshots for seat in snapshot.devices]
    for place in placement.places:
        if place.gpu_uuid:
            index = place.gpu if isinstance(place.gpu, int) else None
            told.append(DeviceSeat(TargetKind.GPU, place.host, uuid=place.gpu_uuid, index=index))
    return tuple(told)


def _with_pictures(
    answer: Diagnosis, progress: CollectiveProgress | None, metrics: Mapping[str, object] | None
) -> Diagnosis:
    pictures: dict[str, object] = {}
    if progress is not None:
        pictures["collective_progress"] = progress_picture(
            progress, answer.suspects, answer.verdict.summary
        )
    if metrics is not None:
        pictures["metrics"] = metrics
    return replace(answer, pictures=pictures) if pictures else answer
