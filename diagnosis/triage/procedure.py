"""The decision procedure of log triage: the ladder of the paper's algorithm 1, made safe.

Dong et al., "Evolution of Aegis", NSDI '25. Rungs, first answer wins: a critical part; the user's
code, storage or configuration before the first distributed finding; calls that differ between
ranks; a host that a coordinator names; RootDiag; few reporters; a silent rank; the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from diagnosis.core.collective_reports import CollectiveReports
from diagnosis.core.devices import DeviceSeat
from diagnosis.core.diagnosis import Conclusion, Skipped
from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement
from diagnosis.core.sightings import Sighting
from diagnosis.core.words import SignatureClass
from diagnosis.readers.collective_reports import joined
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.triage.case import Case, build_case
from diagnosis.triage.clues import Clue
from diagnosis.triage.jobs import conclude_jobs
from diagnosis.triage.scan import Scan, matcher_for
from diagnosis.triage.sections import scan_sections
from diagnosis.triage.settings import TriageSettings
from diagnosis.triage.sifting import sift
from diagnosis.triage.sightings import seats_told, sightings_of


@dataclass(frozen=True)
class TriageResult:
    """What the logs say.

    `conclusion` is None when no log could be read. `ended_ranks`: ranks that logs prove to be gone
    (exit code, killed by a signal), with the reason; consequences of another failure left out.
    `reports`: what the logs say about collectives. `symptoms`: components of the taxonomy that the
    logs complain of. `sightings` and `seats`: what they tell for the history of the parts, and
    which device they say sits where.
    """

    conclusion: Conclusion | None
    skipped: tuple[Skipped, ...] = ()
    ended_ranks: Mapping[int, str] = field(default_factory=dict)
    reports: CollectiveReports = CollectiveReports()  # noqa: RUF009 - frozen
    symptoms: frozenset[str] = frozenset()
    sightings: tuple[Sighting, ...] = ()
    seats: tuple[DeviceSeat, ...] = ()


def triage(
    evidence: Sequence[Evidence],
    *,
    taxonomy: Taxonomy,
    placement: Placement = Placement(),  # noqa: B008 - frozen
    settings: TriageSettings = TriageSettings(),  # noqa: B008 - frozen
) -> TriageResult:
    """Judge the logs of one call. The answer does not depend on their order.

    A log whose stream fails becomes a `Skipped` with the reason and never ends the triage.
    """
    scans, skipped = _read(evidence, taxonomy, settings, placement)
    if not scans:
        return TriageResult(None, skipped)
    whole: Case = build_case(scans, placement, settings, job=None)
    conclusion = conclude_jobs(whole, scans, placement, settings)
    return TriageResult(
        conclusion,
        skipped,
        dict(whole.ended_ranks),
        joined(scan.reports for scan in scans),
        frozenset(
            clue.signature.component
            for clue in whole.clues
            if clue.signature.cls is not SignatureClass.INFO
        ),
        sightings_of(_unescalated(whole, taxonomy)),
        seats_told(scans),
    )


def _unescalated(whole: Case, taxonomy: Taxonomy) -> list[Clue]:
    """What counts in the case, each by its own signature: a rule must not feed on its own doing."""
    left = sift(whole).case.clues
    if not whole.escalated:
        return list(left)
    return [
        replace(clue, signature=taxonomy.by_code.get(clue.code, clue.signature)) for clue in left
    ]


def _read(
    evidence: Sequence[Evidence],
    taxonomy: Taxonomy,
    settings: TriageSettings,
    placement: Placement,
) -> tuple[list[Scan], tuple[Skipped, ...]]:
    matcher = matcher_for(taxonomy, sum(item.size for item in evidence))
    scans: list[Scan] = []
    skipped: list[Skipped] = []
    for item in sorted(evidence, key=lambda item: item.name):
        try:
            scans += scan_sections(item, matcher, settings.suppression, placement.hosts)
        except (OSError, EOFError) as error:
            skipped.append(Skipped(item.name, f"the log cannot be read: {error}"))
    return scans, tuple(skipped)
