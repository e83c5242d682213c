"""The records' evidence and placement as the engine gets them."""

import io

import pytest

from diagnosis.core.words import EvidenceKind
from diagnosis.services.evidence import evidence_of, placement_of
from incidents.services.aside import set_aside
from incidents.services.evidence import attach_evidence
from tests.factories import (
    AttemptFactory,
    EvidenceFactory,
    HostFactory,
    IncidentFactory,
    RankPlacementFactory,
    actor,
)

pytestmark = pytest.mark.django_db


def hand_in(incident, content: bytes, name: str, **given):
    return attach_evidence(
        actor=actor(), incident=incident, name=name, stream=io.BytesIO(content), **given
    )[0]


def test_the_engine_can_read_the_bytes_as_often_as_it_likes():
    incident = IncidentFactory()
    hand_in(incident, b"one\ntwo\n", "rank-0.log")
    _, found = evidence_of(incident)["rank-0.log"]
    for _ in range(2):
        with found.open() as stream:
            assert stream.readlines() == [b"one\n", b"two\n"]
    assert found.size == 8


def test_what_the_uploader_said_is_handed_over_and_the_rest_is_left_open():
    incident = IncidentFactory()
    hand_in(incident, b"x", "a", host="node-1", rank=3, kind=EvidenceKind.LOG)
    hand_in(incident, b"x", "b")
    (_, said), (_, silent) = evidence_of(incident).values()
    assert (said.kind, said.host, said.rank) == (EvidenceKind.LOG, "node-1", 3)
    assert (silent.kind, silent.host, silent.rank) == (None, None, None)


def test_two_files_of_one_name_are_told_apart_and_keep_their_last_name():
    incident = IncidentFactory()
    first, second = (hand_in(incident, content, "dump_3") for content in (b"a", b"b"))
    found = evidence_of(incident)
    assert {name: record for name, (record, _) in found.items()} == {
        "dump_3": first,
        "2/dump_3": second,
    }
    assert found["2/dump_3"][1].name == "2/dump_3"


def test_the_registered_placement_is_handed_over_as_it_was_registered():
    attempt = AttemptFactory()
    host = HostFactory(name="Node-7.example.org")
    RankPlacementFactory(attempt=attempt, rank=0, host=host, gpu="3", stage=1, tp=2)
    RankPlacementFactory(attempt=attempt, rank=1, host=host, gpu="GPU-0a1b", gpu_uuid="GPU-0a1b")
    placement = placement_of(IncidentFactory(attempt=attempt))
    assert placement is not None
    first, second = placement.places
    assert (first.host, first.gpu, first.stage, first.tp) == ("Node-7.example.org", 3, 1, 2)
    assert (second.gpu, second.gpu_uuid, second.nic) == ("GPU-0a1b", "GPU-0a1b", None)


@pytest.mark.parametrize("attempt", [AttemptFactory, lambda: None])
def test_without_placement_the_engine_looks_for_one_in_the_evidence(attempt):
    assert placement_of(IncidentFactory(attempt=attempt())) is None


def test_what_was_set_aside_is_not_judged():
    incident = IncidentFactory()
    used, wrong = (EvidenceFactory(incident=incident) for _ in range(2))
    set_aside(actor=actor(), evidence=wrong, reason="another job")
    assert list(evidence_of(incident)) == [used.name]
