"""A job that stands still where one operation stalled, and a host that had left its peers."""

from dataclasses import replace

from diagnosis.core.diagnosis import Diagnosis, Suspect, Verdict
from diagnosis.core.target import Target
from diagnosis.core.words import IncidentKind, Role, TargetKind, VerdictClass
from diagnosis.services.watch_situation import with_slow_hosts


def suspect(rank: int, score: float, role: Role) -> Suspect:
    host = f"node-{rank}"
    return Suspect(Target(TargetKind.HOST, name=host, host=host, rank=rank), score, role, None)


def answer(*suspects: Suspect) -> Diagnosis:
    verdict = Verdict(IncidentKind.HANG, VerdictClass.UNKNOWN, "It stalled inside.", 0.5)
    return Diagnosis(verdict, suspects, (), (), (), "t")


SLOW = answer(replace(suspect(3, 0.9, Role.CULPRIT), fault="nic-link-down"))


def test_of_the_possible_ranks_the_one_whose_host_left_its_peers_comes_first():
    stalled = answer(*(suspect(rank, 0.25, Role.POSSIBLE) for rank in range(4)))

    first, *others = with_slow_hosts(stalled, SLOW).suspects

    assert (first.target.host, first.role) == ("node-3", Role.POSSIBLE)
    assert first.score > max(other.score for other in others)


def test_a_victim_on_a_slow_host_stays_a_victim_behind_the_culprit():
    hung = answer(suspect(1, 0.95, Role.CULPRIT), suspect(3, 0.0, Role.VICTIM))

    ranked = with_slow_hosts(hung, SLOW).suspects

    assert ranked[0].target.host == "node-1"
