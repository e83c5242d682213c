"""Rung 1 where several machines' own logs speak of broken hardware."""

from diagnosis.core.words import Action, Role
from tests.diagnosis.triage.judged import judged

DOUBLE_BIT = "[Sat Sep  5 00:51:{second:02d} 2026] NVRM: Xid (PCI:0000:9c:00): 48, pid=1, DBE\n"
FALLEN = "[Sat Sep  5 00:51:{second:02d} 2026] NVRM: Xid (PCI:0000:9c:00): 79, GPU fell\n"


def advised(files: dict[str, str]) -> set[tuple[Action, str | None]]:
    return {(item.action, item.target.host) for item in judged(files).recommendations}


def test_two_machines_with_the_same_fault_at_one_moment_are_equal_culprits():
    line = DOUBLE_BIT.format(second=7)

    suspects = judged({"node-1.dmesg.log": line, "node-2.dmesg.log": line}).suspects

    assert [suspect.role for suspect in suspects] == [Role.CULPRIT, Role.CULPRIT]
    assert suspects[0].score == suspects[1].score


def test_every_machine_with_broken_hardware_of_its_own_gets_its_action():
    files = {
        "node-1.dmesg.log": FALLEN.format(second=7),
        "node-2.dmesg.log": FALLEN.format(second=9),
    }

    expected = {(Action.ISOLATE_HOST, "node-1"), (Action.ISOLATE_HOST, "node-2")}
    assert expected <= advised(files)


def test_the_later_of_two_faults_is_only_possible():
    files = {
        "node-1.dmesg.log": FALLEN.format(second=40),
        "node-2.dmesg.log": FALLEN.format(second=9),
    }

    suspects = judged(files).suspects

    assert [s.target.host for s in suspects] == ["node-2", "node-1"]
    assert suspects[1].role is Role.POSSIBLE


def test_a_part_of_no_named_host_is_named_by_its_log_and_the_host_is_asked_for():
    conclusion = judged({"dmesg.log": FALLEN.format(second=7)})

    (first,) = conclusion.suspects
    assert first.target.name == "GPU 0000:9c:00 of the host of dmesg.log"
    assert first.role is Role.POSSIBLE
    assert "find out which host that is" in conclusion.verdict.summary
