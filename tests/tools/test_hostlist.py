"""Slurm's hostlist syntax."""

import pytest
from aegis_register.hostlist import HostlistError, expand
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("hostlist", "hosts"),
    [
        ("gpu1", ["gpu1"]),
        ("gpu[001-003,007]", ["gpu001", "gpu002", "gpu003", "gpu007"]),
        ("gpu[9-11]", ["gpu9", "gpu10", "gpu11"]),
        ("gpu[099-101]", ["gpu099", "gpu100", "gpu101"]),
        ("a[1-2],b,c[3]", ["a1", "a2", "b", "c3"]),
        ("r[1-2]n[01-02]", ["r1n01", "r1n02", "r2n01", "r2n02"]),
        ("n[1-2]-ib0", ["n1-ib0", "n2-ib0"]),
        ("node-1.example.com", ["node-1.example.com"]),
        (" gpu1, gpu3\n", ["gpu1", "gpu3"]),
    ],
)
def test_a_list_is_expanded_in_its_order(hostlist: str, hosts: list[str]) -> None:
    assert expand(hostlist) == hosts


@pytest.mark.parametrize(
    "hostlist",
    [
        "",
        ",",
        "a,,b",
        "gpu[1-3",
        "gpu1-3]",
        "gpu[[1]]",
        "gpu[]",
        "gpu[a-b]",
        "gpu[3-1]",
        "gpu[1-2-3]",
        "gpu[-1]",
        "two names",
        "gpu[1-9999999999]",
        "a[1-999]b[1-999]",
        "a" + "[1-9]" * 200,
        "a[1],b[1-100000]",
    ],
)
def test_what_is_no_list_is_refused(hostlist: str) -> None:
    with pytest.raises(HostlistError):
        expand(hostlist)


@given(low=st.integers(0, 5000), count=st.integers(1, 50), width=st.integers(1, 6))
def test_a_range_holds_each_number_once_at_its_width(low: int, count: int, width: int) -> None:
    first = str(low).zfill(width)
    hosts = expand(f"n[{first}-{low + count - 1}]")
    assert [int(host[1:]) for host in hosts] == list(range(low, low + count))
    assert all(len(host) > len(first) or len(host[1:]) == len(first) for host in hosts)


@given(st.text(max_size=40))
def test_any_text_is_a_list_or_refused(text: str) -> None:
    try:
        hosts = expand(text)
    except HostlistError:
        return
    assert all(hosts)
