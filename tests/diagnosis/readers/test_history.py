"""The history file of the command line."""

import contextlib

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.history import read_history

FINDING = {"code": "xid-31-mmu-fault", "time": "2026-11-20T10:00:00+00:00", "host": "node-1"}


def read(**document: object):
    return read_history(orjson.dumps(document))


def test_a_finding_is_tied_to_the_device_that_held_its_place() -> None:
    history = read(
        owner="ana",
        findings=[{**FINDING, "part": "3d:00.0"}],
        devices=[{"host": "node-1", "uuid": "GPU-1", "pci": "PCI:0000:3d:00"}],
        scores={"Node-1.example": 0.6},
    )
    (past,) = history.past
    assert (past.part, past.identified, past.time) == ("GPU-1", True, 1795168800.0)
    assert history.owner == "ana"
    offences = history.offences_of("node-1")
    assert offences is not None
    assert offences.score == 0.6


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"findings": [{"time": 1}]}, "finding 0: 'code'"),
        ({"findings": [{**FINDING, "time": "yesterday"}]}, "finding 0: 'time'"),
        ({"findings": [{**FINDING, "time": "2026-11-20T10:00:00"}]}, "finding 0: 'time'"),
        ({"devices": [{"uuid": "GPU-1"}]}, "device 0: needs 'host'"),
        ({"scores": {"node-1": 2}}, "score of node-1"),
        ({"findings": {}, "devices": [3]}, "'devices' must be a list"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(document: dict[str, object], reason: str) -> None:
    with pytest.raises(UnreadableEvidence, match=reason):
        read(**document)


@given(st.binary(max_size=60) | st.from_regex(rb'\{"findings":\[.{0,40}\]\}', fullmatch=True))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with contextlib.suppress(UnreadableEvidence):
        read_history(content)
