"""Merging incidents, taking one out again, and what goes on with the merged one."""

import io

import pytest
from django.utils import timezone

from incidents import selectors
from incidents.choices import BatchStep, Resolution, Role
from incidents.exceptions import InvalidInput, MergedAway, NotAllowed, TransitionRefused
from incidents.models import Event, Incident
from incidents.services import incidents
from incidents.services.batches import Done, Wanted, change_many, undo
from incidents.services.diagnoses import request_diagnosis
from incidents.services.evidence import attach_evidence
from incidents.services.merging import unmerge
from incidents.services.tickets import link_ticket
from tests.factories import (
    AttemptFactory,
    EvidenceFactory,
    IncidentFactory,
    actor,
)

pytestmark = pytest.mark.django_db


def merged(*sources: Incident, into: Incident, role: Role = Role.OPERATOR) -> Done:
    wanted = Wanted(step=BatchStep.MERGE, into=into)
    done = change_many(actor=actor(role), incidents=sources, wanted=wanted)
    for one in (*sources, into):
        one.refresh_from_db()
    return done


def test_a_merged_incident_is_a_resolved_duplicate_that_says_where_it_went():
    source, target = IncidentFactory(), IncidentFactory()
    merged(source, into=target)
    assert (source.status, source.resolution) == ("resolved", "duplicate")
    assert source.merged_into == target


def test_the_other_one_is_as_grave_as_both_and_began_with_the_first():
    began = timezone.now()
    source = IncidentFactory(severity="critical", kind="crash", onset_at=began)
    target = IncidentFactory(severity="low", kind="hang")
    merged(source, into=target)
    assert (target.severity, target.kind, target.onset_at) == ("critical", "crash", began)


def test_evidence_and_timeline_of_both_are_read_at_the_one_that_stands():
    source, target = IncidentFactory(), IncidentFactory()
    files = {EvidenceFactory(incident=one).name for one in (source, target)}
    incidents.add_note(actor=actor(), incident=source, text="rack 7 was hot")
    merged(source, into=target)
    assert {one.name for one in selectors.evidence_in_use(target)} == files
    assert "rack 7 was hot" in [event.text for event in selectors.timeline(target)]


def test_the_one_that_stands_is_judged_anew_with_all_files():
    source, target = IncidentFactory(), IncidentFactory()
    EvidenceFactory(incident=source)
    merged(source, into=target)
    assert target.diagnoses.get().state == "queued"


def test_what_was_merged_over_two_steps_belongs_to_the_last():
    first, second, third = IncidentFactory(), IncidentFactory(), IncidentFactory()
    merged(first, into=second)
    merged(second, into=third)
    assert selectors.standing_record(first) == third
    assert set(selectors.family_of(third)) == {first.pk, second.pk, third.pk}


def test_merging_into_what_was_merged_goes_to_the_one_that_stands():
    first, second, third = IncidentFactory(), IncidentFactory(), IncidentFactory()
    merged(second, into=third)
    merged(first, into=second)
    assert first.merged_into == third


def test_an_incident_is_not_merged_into_its_own_part():
    source, target = IncidentFactory(), IncidentFactory()
    merged(source, into=target)
    with pytest.raises(InvalidInput):
        change_many(
            actor=actor(),
            incidents=[target],
            wanted=Wanted(step=BatchStep.MERGE, into=source),
        )


@pytest.mark.parametrize("step", ["acknowledge", "mitigate", "reopen"])
def test_nothing_is_done_to_a_merged_incident_but_where_it_went_is_told(step: str):
    source, target = IncidentFactory(), IncidentFactory()
    merged(source, into=target)
    with pytest.raises(MergedAway, match=target.reference):
        getattr(incidents, step)(actor=actor(), incident=source)


def test_files_notes_tickets_and_runs_for_it_go_to_the_one_that_stands():
    source, target = IncidentFactory(), IncidentFactory()
    merged(source, into=target)
    file, _ = attach_evidence(
        actor=actor(), incident=source, name="late.log", stream=io.BytesIO(b"late")
    )
    incidents.add_note(actor=actor(), incident=source, text="late")
    ticket, _ = link_ticket(actor=actor(), incident=source, key="OPS-1")
    run = request_diagnosis(actor=actor(), incident=source)
    note = Event.objects.get(verb="incident.noted")
    assert {file.incident, ticket.incident, run.incident, note.incident} == {target}


def test_a_report_with_the_key_of_a_merged_incident_joins_the_one_that_stands():
    source, target = IncidentFactory(dedup_key="OPS-1"), IncidentFactory()
    merged(source, into=target)
    joined, new = incidents.open_incident(actor=actor(), title="again", dedup_key="OPS-1")
    assert (joined, new) == (target, False)


def test_a_viewer_merges_nothing():
    with pytest.raises(NotAllowed):
        merged(IncidentFactory(), into=IncidentFactory(), role=Role.VIEWER)


def test_taken_out_again_both_stand_as_before():
    source = IncidentFactory(severity="critical", status="acknowledged")
    target = IncidentFactory(severity="low")
    merged(source, into=target)
    unmerge(actor=actor(), incident=source)
    source.refresh_from_db()
    target.refresh_from_db()
    assert (source.status, source.resolution, source.merged_into) == ("acknowledged", "", None)
    assert target.severity == "low"


def test_what_people_did_to_the_other_one_since_stays():
    source, target = IncidentFactory(severity="critical"), IncidentFactory(severity="low")
    merged(source, into=target)
    incidents.acknowledge(actor=actor(), incident=target)
    unmerge(actor=actor(), incident=source)
    target.refresh_from_db()
    assert (target.severity, target.status) == ("critical", "acknowledged")


def test_taking_out_is_refused_while_another_is_open_for_the_same_thing():
    source, target = IncidentFactory(dedup_key="OPS-1"), IncidentFactory()
    merged(source, into=target)
    incidents.resolve(actor=actor(), incident=target, resolution=Resolution.OTHER)
    other, _ = incidents.open_incident(actor=actor(), title="again", dedup_key="OPS-1")
    with pytest.raises(TransitionRefused, match=other.reference):
        unmerge(actor=actor(), incident=source)


def test_what_is_part_of_nothing_cannot_be_taken_out():
    with pytest.raises(TransitionRefused):
        unmerge(actor=actor(), incident=IncidentFactory())


def test_several_merged_at_once_are_taken_back_at_once():
    sources, target = [IncidentFactory(), IncidentFactory()], IncidentFactory(severity="low")
    done = merged(*sources, into=target)
    undo(actor=actor(), batch=done.batch)
    target.refresh_from_db()
    assert not Incident.objects.filter(merged_into=target).exists()
    assert target.severity == "low"


def test_the_one_to_merge_into_may_be_among_the_chosen():
    source, target = IncidentFactory(), IncidentFactory()
    done = merged(source, target, into=target)
    assert [one.pk for one in done.changed] == [source.pk]


def test_the_words_of_a_merged_incident_find_the_one_that_stands():
    source, target = IncidentFactory(title="zebra stripes"), IncidentFactory()
    merged(source, into=target)
    assert target.terms.filter(term__begins="zebr").exists()


def test_a_report_of_the_merged_attempt_opens_nothing_by_key():
    attempt = AttemptFactory()
    source, target = IncidentFactory(attempt=attempt, dedup_key="k"), IncidentFactory()
    merged(source, into=target)
    joined, _ = incidents.open_incident(
        actor=actor(), title="again", dedup_key="k", attempt=attempt
    )
    assert joined == target
