"""The metric window of an incident, kept among its evidence: servers forget, evidence does not."""

import io
import logging
from datetime import UTC, datetime

from diagnosis.core.metrics import MetricWindow
from diagnosis.readers.metrics_block import pack_window, read_block
from incidents.choices import EvidenceKind
from incidents.exceptions import EvidenceTooLarge, InvalidInput, StorageFull
from incidents.models import Evidence, Incident
from incidents.roles import Actor
from incidents.services.evidence import attach_evidence, open_content

logger = logging.getLogger(__name__)
#: What the name of a kept window ends in.
SUFFIX = ".aegis-metrics"
_WATCH = Actor.system("the watch")


def keep_window(incident: Incident, window: MetricWindow) -> Evidence | None:
    """Attaches the window as one packed block; None, and a line in the log, where it cannot be."""
    end = datetime.fromtimestamp(float(window.time[-1]), UTC)
    try:
        evidence, _ = attach_evidence(
            actor=_WATCH,
            incident=incident,
            name=f"metrics-until-{end:%Y-%m-%dT%H%M%SZ}{SUFFIX}",
            stream=io.BytesIO(pack_window(window)),
            kind=EvidenceKind.METRICS,
        )
    except (EvidenceTooLarge, StorageFull, InvalidInput) as error:
        logger.warning("The metric window of incident %s is not kept: %s", incident.pk, error)
        return None
    return evidence


def kept_window(evidence: Evidence) -> MetricWindow:
    """The window that `keep_window` kept. Raises `UnreadableEvidence` or `BlobMissing`."""
    with open_content(evidence) as stream:
        return read_block(stream.read())
