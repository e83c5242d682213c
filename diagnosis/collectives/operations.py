"""What is known of operations by their name (torch's Flight Recorder and c10d spell them)."""

import re

from diagnosis.core.collectives import Signature

#: Backends without events: `retired` is their only mark of completion (evidence of the CPU build).
BACKENDS_WITHOUT_EVENTS = frozenset({"gloo", "mpi", "ucc"})

_WORD = re.compile(r"[a-z0-9]+")
_SIZES_DIFFER = frozenset(
    {
        "broadcast", "broadcastoop", "reduce", "reduceoop", "gather", "scatter", "alltoall",
        "alltoallsingle", "alltoallvsingle", "alltoallbase", "allgatherv", "reducescatterv",
        "coalesced", "split", "newwindow",
    }
)  # fmt: skip
_ROOTED = frozenset({"broadcast", "broadcastoop", "reduce", "reduceoop", "gather", "scatter"})


def plain(op: str) -> str:
    """The operation's name without case and underscores: `_ALLGATHER_BASE` → `allgatherbase`."""
    return "".join(_WORD.findall(op.lower()))


def is_rooted(op: str) -> bool:
    """One rank sends or receives for all: ranks may complete it far apart."""
    return plain(op) in _ROOTED


def comparable(call: Signature) -> Signature:
    """The part of a call that must be equal on every rank of its communicator.

    Sizes are left out where ranks may differ: all-to-all, variable and rooted operations, and the
    closing entry of a coalesced group.
    """
    name = plain(call.op)
    if name not in _SIZES_DIFFER and not name.endswith("coalesced"):
        return call
    dtypes = call.input_dtypes[:1] or call.output_dtypes[:1]
    return Signature(op=call.op, input_dtypes=() if name in _ROOTED else dtypes)


def describe(call: Signature) -> str:
    """The call as a person reads it: `all_reduce [64, 32] Float`."""
    sizes = call.input_sizes or call.output_sizes
    dtypes = call.input_dtypes or call.output_dtypes
    shown = ", ".join(str(list(shape)) for shape in sizes[:2])
    more = f" and {len(sizes) - 2} more tensors" if len(sizes) > 2 else ""
    words = [call.op or "an operation", shown + more, dtypes[0] if dtypes else ""]
    return " ".join(word for word in words if word)
