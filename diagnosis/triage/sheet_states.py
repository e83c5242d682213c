"""Lines of `nvidia-smi -q` that tell a fault: what they mean hangs on what they stand below."""

from diagnosis.readers.gpu_sheets import SheetPlace
from diagnosis.taxonomy.matcher import Match

#: Signature → the heading that its line must stand below. Counts since the driver was loaded count,
#: those of the board's whole life do not.
SHEET_STATES = {
    "row-remap-failure-flag": "Remapped Rows",
    "row-remap-pending": "Remapped Rows",
    "page-retirement-pending": "Retired Pages",
    "gpu-ecc-uncorrectable-count": "Volatile",
    "gpu-sram-threshold-exceeded": "Aggregate",
}
#: What is said in words that mean nothing else, so that a line cut out of a sheet counts too.
_PLAIN_WORDS = {"row-remap-failure-flag", "page-retirement-pending", "gpu-sram-threshold-exceeded"}


def is_of_a_sheet(match: Match | None) -> bool:
    return match is not None and match.signature.code in SHEET_STATES


def in_sheet(match: Match, place: SheetPlace | None) -> Match | None:
    """The match with its GPU, as the sheet tells it; None where the line does not tell a fault.

    `place`: where in a sheet its line stands.
    """
    code = match.signature.code
    if place is None:
        return match if code in _PLAIN_WORDS else None
    if SHEET_STATES[code] not in place.headings[:1]:
        return None
    parts = {**match.parts, "gpu": place.pci, "device": place.device}
    return Match(match.signature, parts)
