"""Splitting an incident."""

from datetime import UTC, datetime

import pytest

from incidents import selectors
from incidents.choices import BatchStep
from incidents.exceptions import InvalidInput
from incidents.services.batches import Wanted, change_many
from incidents.services.splitting import split
from tests.factories import EvidenceFactory, HostFactory, IncidentFactory, actor

pytestmark = pytest.mark.django_db


def test_the_chosen_files_are_judged_in_an_incident_of_their_own():
    first = IncidentFactory(severity="high")
    stays, goes = EvidenceFactory(incident=first), EvidenceFactory(incident=first)
    second = split(actor=actor(), incident=first, title="other job", evidence=[goes])
    assert [one.name for one in selectors.evidence_in_use(first)] == [stays.name]
    assert [one.blob for one in selectors.evidence_in_use(second)] == [goes.blob]
    assert (second.split_from, second.severity, second.title) == (first, "high", "other job")
    assert {one.diagnoses.get().state for one in (first, second)} == {"queued"}


def test_the_new_one_does_not_take_over_when_the_first_began():
    file = EvidenceFactory(incident__onset_at=datetime(2021, 1, 1, tzinfo=UTC))
    assert split(actor=actor(), incident=file.incident, title="x", evidence=[file]).onset_at is None


def test_the_file_stays_with_the_reason_why_it_is_set_aside():
    file = EvidenceFactory()
    second = split(actor=actor(), incident=file.incident, title="other", evidence=[file])
    file.refresh_from_db()
    assert second.reference in file.set_aside_reason


def test_the_chosen_hosts_move():
    first = IncidentFactory()
    host = HostFactory(cluster=first.cluster)
    first.hosts.add(host)
    second = split(actor=actor(), incident=first, title="other", hosts=[host.name])
    assert (list(first.hosts.all()), list(second.hosts.all())) == ([], [host])


def test_merging_it_back_brings_all_files_together_again():
    first = IncidentFactory()
    stays, goes = EvidenceFactory(incident=first), EvidenceFactory(incident=first)
    second = split(actor=actor(), incident=first, title="other", evidence=[goes])
    wanted = Wanted(step=BatchStep.MERGE, into=first)
    change_many(actor=actor(), incidents=[second], wanted=wanted)
    assert {one.blob for one in selectors.evidence_in_use(first)} == {stays.blob, goes.blob}


@pytest.mark.parametrize(("title", "field"), [("", "title"), ("other", "evidence")])
def test_a_split_needs_a_title_and_something_to_split_off(title: str, field: str):
    with pytest.raises(InvalidInput) as refused:
        split(actor=actor(), incident=IncidentFactory(), title=title)
    assert refused.value.field == field


def test_a_file_of_another_incident_is_refused():
    with pytest.raises(InvalidInput):
        split(actor=actor(), incident=IncidentFactory(), title="x", evidence=[EvidenceFactory()])
