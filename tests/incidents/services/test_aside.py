"""Setting evidence aside, taking it back, and deleting its bytes."""

import io

import pytest

from incidents import selectors
from incidents.choices import Role
from incidents.exceptions import BlobMissing, InvalidInput, NotAllowed, TransitionRefused
from incidents.models import Event, Evidence
from incidents.services.aside import purge, set_aside, take_back
from incidents.services.evidence import attach_evidence, open_content
from incidents.storage import path_of
from tests.factories import EvidenceFactory, IncidentFactory, actor

pytestmark = pytest.mark.django_db


def stored(content: bytes = b"password=hunter2\n") -> Evidence:
    return attach_evidence(
        actor=actor(), incident=IncidentFactory(), name="job.log", stream=io.BytesIO(content)
    )[0]


@pytest.fixture
def purged(django_capture_on_commit_callbacks) -> Evidence:
    found = stored()
    with django_capture_on_commit_callbacks(execute=True):
        purge(actor=actor(Role.ADMIN), evidence=found, reason="a password")
    return Evidence.objects.select_related("blob").get(pk=found.pk)


def test_what_is_set_aside_is_kept_and_used_by_no_later_run():
    found = set_aside(actor=actor(), evidence=EvidenceFactory(), reason=" another job ")
    assert list(selectors.evidence_of(found.incident)) == [found]
    assert not selectors.evidence_in_use(found.incident).exists()
    assert (found.set_aside_by, found.set_aside_reason) == ("a operator", "another job")
    assert Event.objects.get().text == f"{found.name} set aside: another job"


def test_setting_aside_is_undone():
    found = set_aside(actor=actor(), evidence=EvidenceFactory(), reason="another job")
    take_back(actor=actor(), evidence=found)
    assert list(selectors.evidence_in_use(found.incident)) == [found]
    assert Event.objects.latest("id").verb == "evidence.taken-back"


def test_setting_aside_needs_a_reason():
    with pytest.raises(InvalidInput):
        set_aside(actor=actor(), evidence=EvidenceFactory(), reason=" ")


def test_what_is_set_aside_already_keeps_its_reason():
    found = set_aside(actor=actor(), evidence=EvidenceFactory(), reason="first")
    with pytest.raises(TransitionRefused):
        set_aside(actor=actor(), evidence=found, reason="second")


def test_what_is_in_use_cannot_be_taken_back():
    with pytest.raises(TransitionRefused):
        take_back(actor=actor(), evidence=EvidenceFactory())


def test_setting_aside_takes_a_responder():
    with pytest.raises(NotAllowed):
        set_aside(actor=actor(Role.VIEWER), evidence=EvidenceFactory(), reason="x")


def test_a_purge_deletes_the_bytes_and_keeps_the_records(purged: Evidence):
    assert not path_of(purged.blob.sha256).exists()
    assert purged.set_aside_reason == "a password"
    assert Event.objects.latest("id").text == "Bytes of job.log deleted: a password"
    with pytest.raises(BlobMissing, match="had the bytes deleted"):
        open_content(purged)


def test_purged_bytes_are_not_taken_again(purged: Evidence):
    with pytest.raises(InvalidInput, match="had these bytes deleted"):
        stored()
    assert not path_of(purged.blob.sha256).exists()


def test_a_purge_cannot_be_undone(purged: Evidence):
    with pytest.raises(TransitionRefused):
        take_back(actor=actor(), evidence=purged)


def test_a_purge_reaches_every_incident_that_holds_the_bytes():
    first, second = stored(), stored()
    purge(actor=actor(Role.ADMIN), evidence=first, reason="a password")
    assert not selectors.evidence_in_use(second.incident).exists()
    assert Event.objects.filter(incident=second.incident, verb="evidence.purged").exists()


@pytest.mark.parametrize("role", [Role.RESPONDER, Role.OPERATOR])
def test_purging_takes_an_administrator(role: Role):
    with pytest.raises(NotAllowed):
        purge(actor=actor(role), evidence=EvidenceFactory(), reason="x")
