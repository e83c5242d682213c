"""Repeat offenders break ties in the ranking, and overturn nothing."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from diagnosis.core.diagnosis import Diagnosis, Suspect, Verdict
from diagnosis.core.target import Target
from diagnosis.core.words import IncidentKind, Role, TargetKind, VerdictClass
from diagnosis.taxonomy.history import History, Offences
from diagnosis.triage.offenders import with_offenders


def suspect(host: str, score: float, role: Role = Role.POSSIBLE) -> Suspect:
    return Suspect(Target(TargetKind.HOST, name=host, host=host), score, role, None)


def answer(*suspects: Suspect) -> Diagnosis:
    verdict = Verdict(IncidentKind.CRASH, VerdictClass.DISTRIBUTED, "one of them", 0.5)
    return Diagnosis(verdict, suspects, (), ("looked",), (), "rules")


def known(scores: Mapping[str, float]) -> History:
    return History(
        offences={host: Offences(score, "named before") for host, score in scores.items()}
    )


def hosts(found: Diagnosis) -> list[str | None]:
    return [one.target.host for one in found.suspects]


def test_of_two_equal_suspects_the_repeat_offender_stands_first_and_the_trace_says_why() -> None:
    found = with_offenders(
        answer(suspect("node-1", 0.5), suspect("node-2", 0.5)), known({"node-2": 0.6})
    )
    assert hosts(found) == ["node-2", "node-1"]
    assert found.trace[-1] == (
        "node-2 stands before node-1 at equal evidence: repeat-offender score 0.60 against 0.00"
    )
    (finding,) = found.suspects[0].findings
    assert (finding.detector, finding.weight) == ("history", 0.0)


def test_a_culprit_keeps_its_place() -> None:
    both = answer(suspect("node-1", 0.92, Role.CULPRIT), suspect("node-2", 0.92, Role.CULPRIT))
    assert hosts(with_offenders(both, known({"node-2": 0.99}))) == ["node-1", "node-2"]


def test_without_a_history_the_answer_is_what_it_was() -> None:
    given_ = answer(suspect("node-1", 0.5))
    assert with_offenders(given_, History()) is given_


RANKED = st.lists(
    st.tuples(st.sampled_from([0.2, 0.5, 0.5001, 0.9]), st.sampled_from(Role)), max_size=8
).map(
    lambda rows: [
        suspect(f"node-{at}", score, role)
        for at, (score, role) in enumerate(
            sorted(rows, key=lambda row: (row[1] is Role.VICTIM, -row[0]))
        )
    ]
)


@given(RANKED, st.lists(st.floats(0, 1), min_size=8, max_size=8))
def test_direct_evidence_is_never_overturned(ranked: list[Suspect], scores: list[float]) -> None:
    before = answer(*ranked)
    after = with_offenders(before, known({f"node-{at}": s for at, s in enumerate(scores)}))
    assert [(one.score, one.role) for one in after.suspects] == [
        (one.score, one.role) for one in ranked
    ]
    for old, new in zip(ranked, after.suspects, strict=True):
        if old.role is not Role.POSSIBLE:
            assert old.target == new.target
    assert sorted(map(str, hosts(after))) == sorted(map(str, hosts(before)))
    assert after.verdict == before.verdict
    assert after.recommendations == before.recommendations
