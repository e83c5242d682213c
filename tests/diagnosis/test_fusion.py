"""How two conclusions become one answer."""

import pytest

from diagnosis.core.diagnosis import Conclusion, Recommendation, Suspect, Verdict
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass
from diagnosis.fusion import fuse


def suspect(host: str, rank: int | None = None, score: float = 0.9, role: Role = Role.CULPRIT):
    return Suspect(Target(TargetKind.HOST, name=host, host=host, rank=rank), score, role, "code")


def conclusion(
    branch: str,
    cls: VerdictClass,
    *suspects: Suspect,
    confidence: float = 0.9,
    decisive: bool = False,
    actions: tuple[Action, ...] = (),
) -> Conclusion:
    target = suspects[0].target if suspects else Target(TargetKind.NONE)
    return Conclusion(
        branch=branch,
        verdict=Verdict(IncidentKind.HANG, cls, f"{branch} says {cls}.", confidence),
        suspects=suspects,
        recommendations=tuple(Recommendation(action, target, "because") for action in actions),
        trace=(f"{branch} looked",),
        decisive=decisive,
    )


def fused(*conclusions: Conclusion):
    return fuse(conclusions, skipped=(), taxonomy_version="v")


def test_no_conclusion_is_an_honest_unknown_that_was_not_judged():
    answer = fused()

    assert (answer.judged, answer.verdict.cls) == (False, VerdictClass.UNKNOWN)


def test_one_conclusion_is_the_answer_as_it_is():
    alone = conclusion("triage", VerdictClass.CRITICAL, suspect("node-1"))

    assert fused(alone).suspects == alone.suspects


def test_agreement_on_a_place_raises_the_score():
    answer = fused(
        conclusion("triage", VerdictClass.CRITICAL, suspect("node-1", score=0.9), decisive=True),
        conclusion("collectives", VerdictClass.DISTRIBUTED, suspect("NODE-1.local", 3, score=0.5)),
    )

    assert answer.suspects[0].score == pytest.approx(0.95)
    assert answer.suspects[0].target.rank == 3
    assert answer.verdict.confidence == pytest.approx(0.95)


def test_a_critical_part_where_the_collectives_stopped_leads():
    answer = fused(
        conclusion("collectives", VerdictClass.DISTRIBUTED, suspect("node-1", 3, score=0.95)),
        conclusion("triage", VerdictClass.CRITICAL, suspect("node-1"), decisive=True),
    )

    assert answer.verdict.cls is VerdictClass.CRITICAL


def test_a_call_mismatch_outranks_a_critical_line_elsewhere():
    answer = fused(
        conclusion("triage", VerdictClass.CRITICAL, suspect("node-9"), decisive=True),
        conclusion("collectives", VerdictClass.USER, suspect("node-1", 3), decisive=True),
    )

    assert answer.verdict.cls is VerdictClass.USER
    assert answer.suspects[0].target.host == "node-1"


def test_a_rank_that_did_not_arrive_leads_over_symptoms_in_logs():
    symptoms = suspect("node-2", score=0.5, role=Role.POSSIBLE)
    answer = fused(
        conclusion("triage", VerdictClass.DISTRIBUTED, symptoms, confidence=0.99),
        conclusion("collectives", VerdictClass.DISTRIBUTED, suspect("node-1", 3), confidence=0.8),
    )

    assert answer.suspects[0].target.rank == 3


def test_the_users_exception_leads_over_the_rank_that_it_took_away():
    answer = fused(
        conclusion("triage", VerdictClass.USER, suspect("node-1", 3), decisive=True),
        conclusion("collectives", VerdictClass.DISTRIBUTED, suspect("node-1", 3)),
    )

    assert answer.verdict.cls is VerdictClass.USER


def test_a_likely_cause_leads_over_a_rank_that_only_left_no_dump():
    answer = fused(
        conclusion(
            "triage", VerdictClass.USER, suspect("node-1", score=0.55, role=Role.POSSIBLE),
            confidence=0.55,
        ),
        conclusion(
            "collectives", VerdictClass.DISTRIBUTED,
            suspect("node-2", 5, score=0.75, role=Role.POSSIBLE), confidence=0.75,
        ),
    )  # fmt: skip

    assert answer.verdict.cls is VerdictClass.USER
    assert [item.target.host for item in answer.suspects] == ["node-1", "node-2"]


def test_what_does_not_lead_shares_what_is_left_and_is_only_possible():
    answer = fused(
        conclusion("triage", VerdictClass.CRITICAL, suspect("node-1", score=0.9), decisive=True),
        conclusion("collectives", VerdictClass.DISTRIBUTED, suspect("node-2", 9, score=0.95)),
    )

    follower = answer.suspects[1]
    assert (follower.role, follower.target.host) == (Role.POSSIBLE, "node-2")
    assert follower.score == pytest.approx(0.05)


def test_a_victim_stays_one_whatever_the_other_branch_says():
    victim = suspect("node-2", 9, score=0.0, role=Role.VICTIM)
    answer = fused(
        conclusion("collectives", VerdictClass.USER, suspect("node-1", 3), victim, decisive=True),
        conclusion("triage", VerdictClass.DISTRIBUTED, suspect("node-2", score=0.6)),
    )

    assert [s.role for s in answer.suspects if s.target.host == "node-2"] == [Role.VICTIM]


def test_ranks_that_move_outweigh_wear_that_nobody_felt():
    hint = suspect("node-2", score=0.5, role=Role.POSSIBLE)
    answer = fused(
        conclusion("triage", VerdictClass.DEGRADATION, hint, confidence=0.5),
        conclusion("collectives", VerdictClass.HEALTHY, confidence=0.7),
    )

    assert answer.verdict.cls is VerdictClass.HEALTHY
    assert answer.suspects[0].role is Role.POSSIBLE


def test_a_symptom_leads_over_a_healthy_branch():
    answer = fused(
        conclusion("collectives", VerdictClass.HEALTHY, confidence=0.9),
        conclusion("triage", VerdictClass.DISTRIBUTED, confidence=0.4),
    )

    assert answer.verdict.cls is VerdictClass.DISTRIBUTED


def test_both_branches_leave_their_steps_and_how_they_met_in_the_trace():
    answer = fused(
        conclusion("triage", VerdictClass.CRITICAL, suspect("node-1"), decisive=True),
        conclusion("collectives", VerdictClass.DISTRIBUTED, suspect("node-1", 3)),
    )

    assert answer.trace == (
        "triage looked",
        "collectives looked",
        "triage and collectives agree on node-1",
    )


def test_the_followers_action_stands_in_where_the_leader_would_only_watch():
    answer = fused(
        conclusion("triage", VerdictClass.CRITICAL, decisive=True, actions=(Action.WATCH,)),
        conclusion(
            "collectives", VerdictClass.DISTRIBUTED, suspect("n"), actions=(Action.RESTART_JOB,)
        ),
    )

    assert [r.action for r in answer.recommendations] == [Action.WATCH, Action.RESTART_JOB]
