"""Folded lists of hosts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.readers.hostlist import MAX_HOSTS, expanded


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("node-004", ("node-004",)),
        ("node-[001-003]", ("node-001", "node-002", "node-003")),
        ("node[1,9-10]", ("node1", "node9", "node10")),
        ("a1,b[02-03].cluster", ("a1", "b02.cluster", "b03.cluster")),
        ("r[1-2]n[3-4]", ("r1n3", "r1n4", "r2n3", "r2n4")),
    ],
)
def test_a_list_unfolds_to_its_hosts(text: str, hosts: tuple[str, ...]):
    assert expanded(text) == hosts


@pytest.mark.parametrize(
    "text", ["", "two words", "a[", "a[1", "a[]", "a[3-1]", "a[1-99999999]", "a[-1]", "a,,b"]
)
def test_what_is_no_list_of_hosts_unfolds_to_nothing(text: str):
    assert expanded(text) == ()


@given(st.text(alphabet="ab[]0123456789,-. ", max_size=40))
def test_no_text_unfolds_to_more_hosts_than_the_limit(text: str):
    assert len(expanded(text)) <= MAX_HOSTS
