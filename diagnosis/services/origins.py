"""Which host and rank each file speaks for, as far as reading tells."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement
from diagnosis.core.target import normalise_host
from diagnosis.core.words import EvidenceKind
from diagnosis.engine import sort_by_kind
from diagnosis.readers.compression import decompressed
from diagnosis.readers.logs import read_records
from diagnosis.readers.origin import Origin, origin_of

#: How many records of a log are asked for the host that they speak of, and how far they reach.
_RECORDS, _BLOCK_BYTES = 200, 64 * 1024


def origins_of(
    evidence: Mapping[str, Evidence], *, kinds: Mapping[str, str], placement: Placement | None
) -> Mapping[str, Origin]:
    """The origin of each file by its name for the engine.

    The uploader's word wins, then the file's name; a log without either, or with a bare name that
    may be a host's, speaks for the one host that its first lines name. A rank's host comes from the
    placement, registered or handed in.
    """
    plans = [item for name, item in evidence.items() if kinds.get(name) == EvidenceKind.PLACEMENT]
    known = placement or sort_by_kind(plans).placement
    return {name: _origin(item, kinds.get(name, ""), known) for name, item in evidence.items()}


def _origin(item: Evidence, kind: str, placement: Placement) -> Origin:
    origin = origin_of(item)
    place = placement.by_rank.get(-1 if origin.rank is None else origin.rank)
    if origin.host is None and place is not None:
        return replace(origin, host=place.host)
    unsure = origin.host is None or origin.guessed
    if unsure and origin.rank is None and kind == EvidenceKind.LOG:
        return replace(origin, host=_spoken_host(item) or origin.host)
    return origin


def _spoken_host(item: Evidence) -> str | None:
    """The host that the log's first lines name; None where they name none, or several."""
    try:
        records = islice(read_records(decompressed(item), _BLOCK_BYTES), _RECORDS)
        spoken = [record.head.spoken_host for record in records]
    except (OSError, EOFError, ValueError):
        return None
    hosts = {normalise_host(host): host for host in spoken if host}
    return next(iter(hosts.values())) if len(hosts) == 1 else None
