"""Selectors hold any host name, safely, and no more of it than asked."""

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.sources.selectors import host_groups, matcher, quote_regex, quote_string

NAMES = st.text(min_size=1, max_size=60)


@given(NAMES)
def test_a_quoted_name_matches_itself_alone(name: str) -> None:
    pattern = re.compile(quote_regex(name))
    assert pattern.fullmatch(name)
    assert not pattern.fullmatch(f"{name}x")


@given(NAMES)
def test_a_quoted_string_ends_where_it_should_and_says_the_same(text: str) -> None:
    quoted = quote_string(text)
    assert not re.search(r'(?<!\\)(?:\\\\)*"', quoted)
    if text.isprintable():
        assert ast.literal_eval(f'"{quoted}"') == text


def test_a_lone_surrogate_makes_no_invalid_query() -> None:
    quote_string("host\ud800").encode()


@given(st.lists(st.from_regex(r"[a-z]{1,20}-[0-9]{1,4}", fullmatch=True), unique=True))
def test_every_host_is_in_exactly_one_group_within_the_bounds(names: list[str]) -> None:
    groups = host_groups(names, longest=120, most=5)
    assert [host for group in groups for host in group.hosts] == names
    assert all(len(group.hosts) <= 5 for group in groups)
    assert all(sum(len(host) + 1 for host in group.hosts) <= 120 for group in groups)


@pytest.mark.parametrize(
    "value",
    ["node-7", "NODE-7", "node-7:9100", "node-7.cluster.local", "Node-7.cluster.local:9400"],
)
def test_every_spelling_of_a_host_is_matched(value: str) -> None:
    (group,) = host_groups(["node-7.other"])
    assert re.fullmatch(group.regex, value)


@pytest.mark.parametrize("value", ["node-71", "xnode-7", "node-7x", "node-7:", "node.7"])
def test_other_hosts_are_not_matched(value: str) -> None:
    (group,) = host_groups(["node-7"])
    assert not re.fullmatch(group.regex, value)


@pytest.mark.parametrize("name", ["", " ", "x" * 300])
def test_what_cannot_be_a_host_name_is_not_asked_for(name: str) -> None:
    assert host_groups([name]) == ()


def test_a_label_that_promql_does_not_take_is_refused() -> None:
    with pytest.raises(ValueError, match="no label name"):
        matcher('instance="x"} or up{a', "host")
