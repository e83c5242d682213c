"""The offline planner against clusters with a planted fault."""

import numpy as np
import pytest

from diagnosis.core.topology import HostWiring, Topology
from diagnosis.offline.history import BadAnswer, Purpose
from diagnosis.offline.layout import Layout, UnknownHost
from diagnosis.offline.planner import Planner
from tests.diagnosis.offline.clusters import culprits, played, topology


def test_a_faulty_host_is_named_after_two_rounds_and_the_one_across_everything():
    planner, answer = played(topology(), lambda group: "n-1-2-3" not in group)
    assert culprits(answer) == ["n-1-2-3"]
    purposes = [one.round.purpose for one in planner.history.rounds]
    assert purposes == [Purpose.COVER, Purpose.SEPARATE, Purpose.AGGREGATION]


def test_two_faulty_hosts_under_one_tor_are_both_named():
    bad = {"n-0-1-2", "n-0-1-3"}
    _, answer = played(topology(), lambda group: not bad & set(group))
    assert set(culprits(answer)) == bad


def test_a_pair_that_fails_only_together_is_named_as_a_link():
    bad = {"n-0-1-2", "n-1-3-3"}
    _, answer = played(topology(), lambda group: not bad <= set(group))
    target = answer.suspects[0].target
    assert (target.kind, {target.name, target.peer}) == ("link", bad)


def test_a_bad_tor_is_named_and_none_of_its_hosts():
    _, answer = played(topology(), lambda group: not any("n-1-2-" in host for host in group))
    assert culprits(answer) == ["tor-1-2"]


def test_switches_that_no_group_can_tell_apart_share_the_probability():
    wired = Topology(
        tuple(
            HostWiring(f"n-{n}", f"pod-{n // 8}", (f"t{n // 4}-a", f"t{n // 4}-b"))
            for n in range(32)
        )
    )
    bad = {"n-4", "n-5", "n-6", "n-7"}
    _, answer = played(wired, lambda group: not bad & set(group))
    assert [(one.target.name, round(one.score, 1)) for one in answer.suspects] == [
        ("t1-a", 0.5),
        ("t1-b", 0.5),
    ]


def test_a_bad_uplink_is_laid_to_its_tor():
    def passes(group):
        under = ["n-1-2-" in host for host in group]
        return all(under) or not any(under)

    assert culprits(played(topology(), passes)[1]) == ["tor-1-2"]


@pytest.mark.parametrize("characters", [3, 5], ids=["between pods", "between ToRs"])
def test_a_fault_above_the_tors_is_laid_to_the_aggregation(characters):
    _, answer = played(topology(), lambda group: len({host[:characters] for host in group}) < 2)
    assert culprits(answer) == ["aggregation"]


def test_a_healthy_cluster_is_called_healthy_only_after_the_round_across_everything():
    planner, answer = played(topology(), lambda group: True)
    assert answer.verdict.cls == "healthy"
    assert max(len(group) for one in planner.history.rounds for group in one.round.groups) == 64


def test_tests_that_often_pass_a_bad_host_delay_the_answer_and_do_not_change_it():
    rng = np.random.default_rng(5)
    _, answer = played(topology(), lambda group: "n-1-2-3" not in group or rng.random() < 0.3)
    assert culprits(answer) == ["n-1-2-3"]


def test_no_answer_is_no_verdict():
    _, answer = played(topology(), lambda group: None)
    assert (answer.verdict.cls, answer.suspects) == ("unknown", ())


def test_a_host_that_never_answers_is_possible_not_convicted():
    _, answer = played(topology(), lambda group: None if "n-1-2-3" in group else True)
    assert [(one.target.name, one.role) for one in answer.suspects] == [("n-1-2-3", "possible")]


def test_everything_failing_accuses_the_test_and_no_host():
    _, answer = played(topology(), lambda group: False, rounds=4)
    assert (answer.verdict.cls, answer.suspects) == ("unknown", ())
    assert "test job" in answer.verdict.summary


def test_only_suspects_are_tested():
    suspects = [f"n-0-{tor}-{host}" for tor in range(4) for host in range(2)]
    planner, answer = played(topology(), lambda group: "n-0-1-1" not in group, suspects)
    tested = {
        planner.history.layout.names[host]
        for one in planner.history.rounds
        for group in one.round.groups
        for host in group
    }
    assert tested == set(suspects)
    assert culprits(answer) == ["n-0-1-1"]


def test_two_suspects_get_partners_from_the_rest_of_the_cluster():
    _, answer = played(topology(), lambda group: "n-0-1-1" not in group, ["n-0-1-1", "n-0-1-2"])
    assert culprits(answer) == ["n-0-1-1"]


def test_a_lonely_host_is_tested_by_itself():
    _, answer = played(topology(1, 1, 1), lambda group: False)
    assert culprits(answer) == ["n-0-0-0"]


def test_the_plan_after_some_rounds_depends_on_them_alone():
    planner, _ = played(topology(), lambda group: "n-1-2-3" not in group, rounds=1)
    anew = Planner.of(planner.history.layout, planner.history.rounds)
    first, second = planner.next_round(), anew.next_round()
    assert first
    assert second
    assert first.names(planner.history.layout) == second.names(planner.history.layout)


def test_a_suspect_that_the_topology_does_not_know_is_refused():
    with pytest.raises(UnknownHost, match="ghost"):
        Layout.of(topology(), ["ghost"])


@pytest.mark.parametrize("results", ["true", [True], [1] * 32, None, {"a": 1}])
def test_results_that_do_not_fit_the_round_are_refused(results):
    planner = Planner.of(Layout.of(topology()))
    asked = planner.next_round()
    assert asked
    with pytest.raises(BadAnswer):
        planner.answered(asked, results)
