"""The engine's one entry: evidence, taxonomy and placement in, an explained diagnosis out.

Pure: no database, no clock, no Django. The answer does not depend on the order of the evidence.
"""

from collections.abc import Iterable
from dataclasses import replace

from diagnosis.collectives.counters_verdict import localise_sheet
from diagnosis.collectives.picture import progress_picture
from diagnosis.collectives.procedure import localise
from diagnosis.collectives.reports import localise_counters
from diagnosis.core.collectives import CollectiveProgress
from diagnosis.core.counters import CounterSheet
from diagnosis.core.diagnosis import Conclusion, Diagnosis
from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement
from diagnosis.core.topology import Topology
from diagnosis.fusion import fuse
from diagnosis.readers.counter_sources import read_counters
from diagnosis.readers.flight_recorder import read_dumps
from diagnosis.readers.sorted_evidence import sort_by_kind
from diagnosis.taxonomy.ruleset import Taxonomy, rules_version
from diagnosis.taxonomy.suppression import Suppression
from diagnosis.triage.config_check import conclude_configuration
from diagnosis.triage.network import conclude_network
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
    suppression: Suppression = Suppression(),  # noqa: B008 - frozen
    now: float | None = None,
) -> Diagnosis:
    """Judge all evidence of one broken job.

    `placement` and `topology` win over such files among the evidence; without a `taxonomy` the
    shipped one is used. What `suppression` silences is told and not judged. `now` (seconds since
    the epoch) gives time stamps without a year theirs. Evidence that cannot be read ends in
    `skipped` with its reason and never raises; `judged` is False when nothing could be judged.
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
    wired = topology or given.topology
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
