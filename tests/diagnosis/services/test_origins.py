"""Whose evidence a file is, when nobody said so."""

import io

import pytest

from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement, RankPlace
from diagnosis.core.words import EvidenceKind
from diagnosis.services.origins import origins_of

SYSLOG = "Mar  1 06:20:07 {} kernel: NVRM: Xid (PCI:0000:3b:00): 79\n"
PLACEMENT = Placement.of([RankPlace(rank=3, host="node-9")])


def origin(name: str, content: str = "", *, kind: str = "log", placement=None, **given):
    data = content.encode()
    item = Evidence(name=name, open=lambda: io.BytesIO(data), size=len(data), **given)
    found = origins_of({name: item}, kinds={name: kind}, placement=placement)[name]
    return found.host, found.rank


def test_a_dumps_rank_is_in_its_name_and_its_host_in_the_placement():
    assert origin("dump_3", kind="flight-recorder", placement=PLACEMENT) == ("node-9", 3)


def test_the_uploaders_host_wins_over_the_placement():
    assert origin("dump_3", host="node-1", placement=PLACEMENT) == ("node-1", 3)


def test_a_log_without_a_telling_name_speaks_for_the_host_in_its_lines():
    assert origin("messages", SYSLOG.format("node-004") * 3) == ("node-004", None)


@pytest.mark.parametrize("content", ["step 1\n", SYSLOG.format("a-1") + SYSLOG.format("b-2"), ""])
def test_a_log_of_no_host_or_of_several_speaks_for_none(content: str):
    assert origin("messages", content) == (None, None)


def test_a_placement_among_the_evidence_tells_the_hosts():
    plan = b'[{"rank": 3, "host": "node-9"}]'
    files = {
        "placement.json": Evidence("placement.json", lambda: io.BytesIO(plan), len(plan)),
        "dump_3": Evidence("dump_3", lambda: io.BytesIO(b"\x80"), 1),
    }
    kinds = {"placement.json": EvidenceKind.PLACEMENT.value, "dump_3": "flight-recorder"}
    assert origins_of(files, kinds=kinds, placement=None)["dump_3"].host == "node-9"


def test_what_cannot_be_opened_speaks_for_none():
    def spoilt():
        raise OSError("gone")

    item = Evidence("messages", spoilt, 9)
    found = origins_of({"messages": item}, kinds={"messages": "log"}, placement=None)
    assert found["messages"].host is None
