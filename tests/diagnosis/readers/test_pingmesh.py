"""Ping matrices and topologies: both forms, and what is wrong with a bad one."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.core.words import EvidenceKind
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.kinds import kind_of
from diagnosis.readers.pingmesh import read_pings
from diagnosis.readers.topology import read_topology
from tests.diagnosis.readers.logs_evidence import log

CSV = (
    "time,src,dst,size_bytes,sent,lost,rtt_p50_us,rtt_p99_us\n"
    "2025-03-04T02:00:00Z,node-01/mlx5_0,node-02/mlx5_0,4096,1000,3,8.5,21\n"
    "2025-03-04T02:00:00Z,node-02,node-01,64,1000,1000,,\n"
)
JSON = (
    '{"time": "2025-03-04T02:00:00Z", "src": "node-01/mlx5_0", "dst": "node-02/mlx5_0", '
    '"size_bytes": 4096, "sent": 1000, "lost": 3, "rtt_p50_us": 8.5, "rtt_p99_us": 21}\n'
    '{"src": "node-02", "dst": "node-01", "size_bytes": 64, "sent": 1000, "lost": 1000}\n'
)


@pytest.mark.parametrize("text", [CSV, JSON])
def test_both_forms_are_told_by_their_content_and_read_alike(text: str) -> None:
    evidence = log(text, "mesh.txt")
    first, second = read_pings(evidence)
    assert kind_of(evidence) is EvidenceKind.PING_MATRIX
    assert (first.source.nic, first.size, first.lost, first.rtt_p99) == ("mlx5_0", 4096, 3, 21.0)
    assert (second.source.host, second.rtt_p50) == ("node-02", None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("src,dst,lost\na,b,1\n", "no column sent"),
        ("src,dst,sent,lost\na,b,1\n", "line 2: 3 cells, not 4"),
        ("src,dst,sent,lost\na,b,ten,1\n", "line 2: 'sent' must be a number"),
        ("src,dst,sent,lost\na,b,1,2\n", "line 2: 2 lost of 1 sent"),
        ("src,dst,sent,lost\n,b,1,0\n", "line 2: 'src' must be a host"),
        ('{"src": "a", "dst": "b", "sent": 1, "lost": 0}\n{oops\n', "line 2: not JSON"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(UnreadableEvidence, match=reason):
        read_pings(log(text, "mesh.csv"))


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(UnreadableEvidence):
        probes = read_pings(log("src,dst,sent,lost\n" + text, "mesh.csv"))
        assert all(probe.lost <= probe.sent for probe in probes)


def test_a_topology_is_read() -> None:
    found = read_topology(
        b'{"hosts": [{"name": "node-01", "pod": "p1", "tor": ["tor-1"],'
        b' "rails": {"mlx5_0": "tor-2"}}],'
        b' "links": [{"a": "node-01/mlx5_0", "b": "tor-2/Ethernet12"}]}'
    )
    wiring = found.wiring_of("NODE-01.cluster")
    assert wiring is not None
    assert (wiring.tors_of("mlx5_0"), wiring.tors_of(None)) == (("tor-2",), ("tor-1", "tor-2"))
    assert found.far_ends["tor-2/Ethernet12"] == "node-01/mlx5_0"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "not JSON"),
        (b"[]", "must be a JSON object"),
        (b'{"hosts": [{"pod": "p"}]}', "topology host 0: 'name'"),
        (b'{"hosts": [{"name": "a", "tor": [1]}]}', "topology host 0: 'tor'"),
        (b'{"hosts": [{"name": "a"}, {"name": "A"}]}', "names a host twice"),
        (b'{"hosts": [], "links": [{"a": 1}]}', "topology link 0"),
    ],
)
def test_a_bad_topology_is_refused_with_the_reason(content: bytes, reason: str) -> None:
    with pytest.raises(UnreadableEvidence, match=reason):
        read_topology(content)
