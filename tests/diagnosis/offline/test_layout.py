"""Uplinks that a group of hosts takes, and rounds without contention."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.core.topology import HostWiring, Topology
from diagnosis.offline.designs import covering
from diagnosis.offline.layout import Layout
from tests.diagnosis.offline.clusters import topology


def test_a_group_under_one_tor_takes_no_uplink():
    layout = Layout.of(topology())
    assert layout.uplinks_of([0, 1, 2]) == set()


def test_a_group_across_tors_takes_their_uplinks_and_one_across_pods_the_pods_too():
    layout = Layout.of(topology(2, 2, 1))
    tors = {("tor", "tor-0-0"), ("tor", "tor-0-1")}
    assert layout.uplinks_of([0, 1]) == tors
    across = layout.uplinks_of([0, 2])
    assert across == {("tor", "tor-0-0"), ("tor", "tor-1-0"), ("pod", "pod-0"), ("pod", "pod-1")}


def test_hosts_without_a_named_tor_share_one_that_nobody_named():
    layout = Layout.of(Topology((HostWiring("a"), HostWiring("b"))))
    assert layout.uplinks_of([0, 1]) == set()


wirings = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=2, max_size=40)


@given(wirings, st.integers(0, 2**16))
def test_a_covering_round_is_disjoint_and_free_of_contention(places, seed):
    hosts = [
        HostWiring(f"n{number}", f"p{pod}", (f"t{pod}-{tor}",))
        for number, (pod, tor) in enumerate(places)
    ]
    layout = Layout.of(Topology(tuple(hosts)))
    groups = covering(layout, np.arange(len(layout)), np.random.default_rng(seed))
    members = [host for group in groups for host in group.tolist()]
    uplinks = [uplink for group in groups for uplink in layout.uplinks_of(group)]
    assert len(set(members)) == len(members)
    assert len(set(uplinks)) == len(uplinks)
    assert all(len(group) > 1 for group in groups)
