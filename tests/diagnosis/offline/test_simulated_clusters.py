"""The planner on seeded clusters of every shape: the right part, and no contention on the way."""

import pytest

from benchmarks.obvious_offline import obvious_rounds
from benchmarks.offline_campaigns import campaigns
from diagnosis.simulator.offline_clusters import FAULTS


@pytest.mark.parametrize("kind", [kind for kind in FAULTS if kind != "pair"])
def test_faults_are_found_without_contention(kind):
    done = list(campaigns(kind, 5, seed=31, largest=128))
    assert sum(one.right for one in done) >= 4
    assert not any(one.contended for one in done)


def test_a_pair_of_hosts_is_found_in_clusters_of_any_shape():
    assert sum(one.right for one in campaigns("pair", 2, seed=2, largest=40)) >= 1


def test_one_fault_takes_fewer_rounds_than_the_obvious_scheme():
    done = list(campaigns("host", 5, seed=32, largest=128))
    assert sum(one.rounds for one in done) < sum(obvious_rounds(one.cluster)[1] for one in done)
