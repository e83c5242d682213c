"""Whose end of the connections was closed, and why the order of clocks says little about that."""

from collections.abc import Sequence

from diagnosis.core.words import SignatureClass
from diagnosis.triage.case import Case
from diagnosis.triage.clues import Clue
from diagnosis.triage.root_diag import ENDED_BY_PEER, Root, edges_of, root_of


def who_hung_up(case: Case) -> str | None:
    """The one machine that the others saw closing its connections first; None for none."""
    edges = edges_of(case.of(SignatureClass.DISTRIBUTED), case.addresses)
    return hung_up_in(root_of(edges, case.settings)) if edges else None


def hung_up_in(root: Root) -> str | None:
    """The end that explains the first failures by having closed its connections."""
    if not {edge.clue.code for edge in root.edges} <= ENDED_BY_PEER:
        return None
    peers = {edge.peer for edge in root.edges}
    return root.node or (peers.pop() if root.pair and len(peers) == 1 else None)


def without_hang_ups(
    errors: Sequence[Clue], clue: Clue, machine: str | None, case: Case
) -> Sequence[Clue]:
    """The errors without those that follow from the clue whatever their clocks say.

    A process that ends by its own error closes its connections: peers tell of that within a moment,
    by clocks that disagree. `machine` is the one that hung up; a rank of no known host may be its.
    """
    if machine is None or (machine != clue.place.machine and clue.place.host is not None):
        return errors
    return [error for error in errors if not _is_about_then(error, clue, case)]


def _is_about_then(error: Clue, clue: Clue, case: Case) -> bool:
    one, other = error.moment, clue.moment
    if one is None or other is None or one.scale != other.scale:
        return True
    settings = case.settings
    in_order = error.log == clue.log and (error.line < clue.line) == (one.time <= other.time)
    return abs(one.time - other.time) <= (
        settings.first_failures if in_order else settings.clock_doubt
    )
