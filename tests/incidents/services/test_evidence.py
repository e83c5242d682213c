"""Handing in evidence."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents import storage
from incidents.choices import EvidenceKind, ParseStatus, Role
from incidents.exceptions import AppendOnly, InvalidInput, NotAllowed
from incidents.models import Blob, Event, Evidence
from incidents.services import evidence
from incidents.services.evidence import clean_name
from incidents.services.results import ReadingData
from tests.factories import EvidenceFactory, IncidentFactory, actor

pytestmark = pytest.mark.django_db


def hand_in(incident, content: bytes = b"line\n", name: str = "rank-0.log", **given):
    return evidence.attach_evidence(
        actor=actor(), incident=incident, name=name, stream=io.BytesIO(content), **given
    )


def test_what_is_handed_in_can_be_read_again():
    found, created = hand_in(IncidentFactory(), host="node-1", rank=3)
    with storage.open_blob(found.blob.sha256, size=found.blob.size) as stream:
        assert (created, stream.read()) == (True, b"line\n")
    assert (found.host, found.rank, found.parse_status) == ("node-1", 3, ParseStatus.PENDING)


def test_the_same_file_again_joins_what_is_there():
    incident = IncidentFactory()
    first, _ = hand_in(incident)
    second, created = hand_in(incident)
    assert (second, created) == (first, False)
    assert Event.objects.filter(incident=incident).count() == 1


def test_the_same_bytes_under_another_name_are_stored_once():
    incident = IncidentFactory()
    hand_in(incident, name="a.log")
    hand_in(incident, name="b.log")
    assert (Evidence.objects.count(), Blob.objects.count()) == (2, 1)


def test_other_bytes_under_a_known_name_are_kept_beside():
    incident = IncidentFactory()
    hand_in(incident, b"first")
    hand_in(incident, b"first and more")
    assert incident.evidence.count() == 2


def test_what_the_uploader_says_of_the_kind_is_kept_apart_from_what_reading_finds():
    found, _ = hand_in(IncidentFactory(), kind=EvidenceKind.LOG)
    reading = ReadingData(
        evidence_id=found.pk, status=ParseStatus.PARSED, kind=EvidenceKind.FLIGHT_RECORDER
    )
    evidence.note_reading(found, reading)
    found.refresh_from_db()
    assert (found.declared_kind, found.kind) == ("log", "flight-recorder")


def test_an_empty_file_is_taken():
    found, created = hand_in(IncidentFactory(), b"")
    assert (created, found.blob.size) == (True, 0)


def test_a_viewer_hands_nothing_in_and_nothing_is_stored(settings):
    with pytest.raises(NotAllowed):
        evidence.attach_evidence(
            actor=actor(Role.VIEWER),
            incident=IncidentFactory(),
            name="x",
            stream=io.BytesIO(b"x"),
        )
    assert not settings.EVIDENCE_DIR.exists()


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [
        ("dumps/rank_3", "dumps/rank_3"),
        ("../../etc/passwd", "etc/passwd"),
        ("C:\\logs\\node-1.log", "C:/logs/node-1.log"),
        ("/var/log/./x.log", "var/log/x.log"),
        ("a\x00b", "ab"),
    ],
)
def test_names_keep_their_folders_and_climb_nowhere(given_name: str, kept: str):
    assert clean_name(given_name) == kept


@pytest.mark.parametrize("name", ["", "..", "/", "\x00", "x" * 501])
def test_a_file_without_a_usable_name_is_refused(name: str):
    with pytest.raises(InvalidInput):
        clean_name(name)


@given(st.text(max_size=300))
def test_a_clean_name_stays_as_it_is(name: str):
    try:
        once = clean_name(name)
    except InvalidInput:
        return
    assert clean_name(once) == once


def test_evidence_is_never_altered():
    found = EvidenceFactory()
    found.name = "another"
    with pytest.raises(AppendOnly):
        found.save()
    with pytest.raises(AppendOnly):
        Evidence.objects.update(name="another")


def test_evidence_is_never_deleted():
    found = EvidenceFactory()
    with pytest.raises(AppendOnly):
        found.delete()
    with pytest.raises(AppendOnly):
        Evidence.objects.all().delete()


def test_the_uploaders_word_on_host_and_rank_wins_over_what_reading_told():
    said, _ = hand_in(IncidentFactory(), host="node-1", rank=0)
    silent, _ = hand_in(IncidentFactory())
    for one in (said, silent):
        reading = ReadingData(evidence_id=one.pk, status=ParseStatus.PARSED, host="node-7", rank=7)
        evidence.note_reading(one, reading)
        one.refresh_from_db()
    assert (said.from_host, said.from_rank) == ("node-1", 0)
    assert (silent.from_host, silent.from_rank) == ("node-7", 7)
