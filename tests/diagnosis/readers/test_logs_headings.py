"""What a line must look like to say whose the lines below it are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.readers.logs_headings import Headings
from diagnosis.readers.origin import Origin

DSHBAK, CLUSH = "-" * 16, "-" * 15


@pytest.mark.parametrize(
    ("before", "line", "hosts"),
    [
        ([DSHBAK, "node-004"], DSHBAK, ["node-004"]),
        ([DSHBAK, "node-[001-002]"], DSHBAK, ["node-001", "node-002"]),
        ([DSHBAK, "10.0.3.4"], DSHBAK, ["10.0.3.4"]),
        ([CLUSH, "node[1-3] (3)"], CLUSH, ["node1", "node2", "node3"]),
        ([], "node-004 | CHANGED | rc=0 >>", ["node-004"]),
        ([], "node-004.cluster.local | FAILED | rc=1 >>", ["node-004.cluster.local"]),
        ([], "==> node-004/dmesg <==", ["node-004"]),
        ([], "==> /var/log/all/node-004.dmesg.log <==", ["node-004"]),
    ],
)
def test_the_grammars_of_tools_name_their_hosts(before: list[str], line: str, hosts: list[str]):
    assert [one.host for one in Headings().whose(line, before, 3)] == hosts


def test_a_file_of_tail_may_name_a_rank():
    assert Headings().whose("==> logs/rank-3.log <==", [], 1) == (Origin(rank=3),)


LOOPS = ["== {} ==", "=== {} ===", "### {}", "## {} ##", "*** {} ***", "--- {} ---", ">>> {}"]


@pytest.mark.parametrize("form", LOOPS)
def test_a_heading_of_someones_own_needs_a_host_of_the_placement(form: str):
    line = form.format("node-004")
    assert Headings(["node-004.cluster.local"]).whose(line, [], 9) == (Origin(host="node-004"),)
    assert Headings(["node-005"]).whose(line, [], 9) == Headings().whose(line, [], 9) == ()


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ([DSHBAK, "Epoch 1"], DSHBAK),
        ([DSHBAK, "epoch-1"], DSHBAK),
        ([DSHBAK, "layer7"], DSHBAK),
        ([DSHBAK, "summary"], DSHBAK),
        ([DSHBAK, "0.4213"], DSHBAK),
        ([CLUSH, "node-004"], DSHBAK),
        ([DSHBAK, DSHBAK], DSHBAK),
        ([CLUSH, "node[1-3] (2)"], CLUSH),
        ([], DSHBAK),
        ([], "-" * 80),
        ([], "step-100 | CHANGED | rc=0 >>"),
        ([], "node-004 | CHANGED | rc=0 >> more"),
    ],
)
def test_what_only_resembles_a_heading_is_none(before: list[str], line: str):
    assert Headings(["node-007"]).whose(line, before, 3) == ()


def test_a_name_between_rules_amid_a_log_is_a_host_only_where_it_is_known():
    before = [DSHBAK, "llama7b"]
    assert Headings().whose(DSHBAK, before, 5000) == ()
    assert Headings(["llama7b"]).whose(DSHBAK, before, 5000) == (Origin(host="llama7b"),)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60), st.integers(1, 9))
def test_no_text_breaks_the_search(line: str, number: int):
    headings = Headings(["node-1"])
    for text in (line, f"==> {line} <==", f"{line} | CHANGED | rc=0 >>", f"== {line} =="):
        for origin in headings.whose(text, [DSHBAK, line], number):
            assert origin.host is None or origin.host in line
