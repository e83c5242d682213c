"""Deliver, hold or repeat."""

from dataclasses import replace

import pytest

from benchmarks.check_sweeps import checked
from diagnosis.checks.criteria import Reading
from diagnosis.checks.output import Ending, Output
from diagnosis.checks.suite import Item, Scope, Suite, suite_from_yaml
from diagnosis.checks.verdict import Decision, Judge, Status

SUITE = suite_from_yaml("""
code: t
title: T
items:
  - {code: version, title: Version, command: v, parser: readings, value: v, unit: "",
     direction: equal,
     criterion: {rule: same}, time_limit_s: 5, phase: configuration, blame: config}
  - {code: errors, title: Errors, command: e, parser: readings, value: v, unit: "",
     direction: lower,
     criterion: {rule: bound, limit: 0}, time_limit_s: 5, phase: configuration, blame: critical}
  - {code: speed, title: Speed, command: s, parser: readings, value: v, unit: GB/s,
     direction: higher,
     criterion: {rule: fleet, floor: 0.05}, time_limit_s: 5, phase: single-host, confirm: true}
""")
GOOD = {"version": "1.0", "errors": "0", "speed": "100"}


def output(value: str) -> Output:
    return Output(f"reading v {value}\ndone\n")


def host(**values: str) -> dict[str, list[Output]]:
    return {item: [output(value)] for item, value in {**GOOD, **values}.items()}


def batch(number: int = 9, **odd: dict[str, list[Output]]) -> dict[str, dict[str, list[Output]]]:
    return {**{f"n{one}": host() for one in range(number)}, **odd}


def test_healthy_hosts_are_delivered():
    assert {one.decision for one in Judge(SUITE)(batch()).hosts} == {Decision.DELIVER}


@pytest.mark.parametrize(("item", "value"), [("version", "1.1"), ("errors", "2")])
def test_a_wrong_value_holds_its_host_alone_and_says_why(item, value):
    verdict = Judge(SUITE)(batch(bad=host(**{item: value})))
    assert [one.host for one in verdict.hosts if one.decision != Decision.DELIVER] == ["bad"]
    (reason,) = verdict.of("bad").against
    assert (reason.item, reason.status) == (item, Status.FAILED)
    assert "wanted" in reason.text


def test_a_slow_host_is_measured_again_before_it_is_held():
    slow = host(speed="80")
    assert Judge(SUITE)(batch(bad=slow)).of("bad").decision == Decision.REPEAT
    slow["speed"].append(output("81"))
    assert Judge(SUITE)(batch(bad=slow)).of("bad").decision == Decision.HOLD


def test_one_stray_measurement_does_not_hold_a_host():
    stray = host(speed="60")
    stray["speed"].append(output("99"))
    assert Judge(SUITE)(batch(odd=stray)).of("odd").decision == Decision.DELIVER


@pytest.mark.parametrize(
    "bad",
    [
        Output("garbage"),
        Output("reading v 1"),
        Output(ending=Ending.MISSING),
        Output(ending=Ending.LOST),
        Output(ending=Ending.TIMED_OUT),
    ],
)
@pytest.mark.parametrize("attempts", [1, 2, 3])
@pytest.mark.parametrize("item", list(GOOD))
def test_what_cannot_be_read_never_delivers(bad, attempts, item):
    verdict = Judge(SUITE)(batch(odd={**host(), item: [bad] * attempts}))
    assert verdict.of("odd").decision != Decision.DELIVER


def test_a_time_out_is_repeated_and_a_second_one_is_a_hang():
    late = Output(ending=Ending.TIMED_OUT)
    once = Judge(SUITE)(batch(odd={**host(), "speed": [late]})).of("odd")
    twice = Judge(SUITE)(batch(odd={**host(), "speed": [late, late]})).of("odd")
    assert (once.decision, twice.decision) == (Decision.REPEAT, Decision.HOLD)
    assert "hangs" in twice.against[0].text


def test_garbage_twice_cannot_be_told():
    bad = Output("garbage")
    verdict = Judge(SUITE)(batch(odd={**host(), "speed": [bad, bad]})).of("odd")
    assert (verdict.decision, verdict.against[0].status) == (Decision.REPEAT, Status.CANNOT_TELL)


def test_too_few_hosts_without_a_history_cannot_be_told():
    verdict = Judge(SUITE)({"a": host(), "b": host()})
    assert {one.decision for one in verdict.hosts} == {Decision.REPEAT}


def test_a_single_host_is_judged_by_the_history():
    history: dict[str, dict[str, Reading]] = {
        "version": {f"old{one}": "1.0" for one in range(8)},
        "speed": {f"old{one}": 100.0 + one / 10 for one in range(8)},
    }
    assert Judge(SUITE, history)({"a": host()}).of("a").decision == Decision.DELIVER


def test_a_mass_failure_recommends_rolling_back_and_holds_no_single_host():
    hosts = {f"n{one}": host(errors="1" if one < 6 else "0") for one in range(10)}
    verdict = Judge(SUITE)(hosts)
    assert (verdict.decision, verdict.mass) == (Decision.HOLD, ("errors",))
    assert Decision.HOLD not in {one.decision for one in verdict.hosts}
    assert verdict.learned == {}


def test_a_batch_slower_than_the_history_is_a_mass_failure():
    history = {"speed": {f"old{one}": 100.0 + one / 10 for one in range(20)}}
    slow = {f"n{one}": host(speed="80") for one in range(8)}
    for outputs in slow.values():
        outputs["speed"].append(output("80"))
    assert Judge(SUITE, history)(slow).mass == ("speed",)


def test_only_delivered_hosts_teach_the_history():
    slow = host(speed="80")
    slow["speed"].append(output("80"))
    learned = Judge(SUITE)(batch(bad=slow)).learned
    assert "bad" not in learned["speed"]
    assert len(learned["speed"]) == 9


def test_bad_hosts_in_history_and_batch_do_not_move_the_criterion():
    history = {"speed": {f"old{one}": 70.0 if one < 6 else 100.0 + one / 10 for one in range(20)}}
    slow = host(speed="85")
    slow["speed"].append(output("85"))
    assert Judge(SUITE, history)(batch(bad=slow)).of("bad").decision == Decision.HOLD


def test_a_host_on_pairs_is_judged_by_its_best_round():
    pairs = Suite(
        "p", "P", 60, tuple(_on_pairs(item) for item in SUITE.items if item.code == "speed")
    )
    hosts = {f"n{one}": {"speed": [output("100"), output("100")]} for one in range(6)}
    hosts["partner"] = {"speed": [output("50"), output("100")]}
    hosts["bad"] = {"speed": [output("50"), output("51")]}
    verdict = Judge(pairs)(hosts)
    assert [one.host for one in verdict.hosts if one.decision == Decision.HOLD] == ["bad"]


def _on_pairs(item: Item) -> Item:
    return replace(item, scope=Scope.PAIR, rounds=2)


def test_generated_sweeps_hold_few_healthy_hosts_and_deliver_few_faulty_ones():
    rates = checked(10, seed=70)
    assert rates.healthy_held <= 0.02 * rates.healthy
    assert rates.faulty_delivered <= 0.08 * rates.faulty  # some 110 hosts; the benchmark takes more
