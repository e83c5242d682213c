"""Past incidents that look like one."""

import pytest

from incidents import selectors
from incidents.choices import DecisionKind
from incidents.models import Incident
from incidents.services.decisions import decide
from tests.factories import (
    ClusterFactory,
    DiagnosisFactory,
    IncidentFactory,
    RecommendationFactory,
    actor,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def west():
    return ClusterFactory(name="west")


def blaming(cluster, fault: str = "", host: str = "", fingerprint: str = "") -> Incident:
    return IncidentFactory(
        cluster=cluster, suspect_fault=fault, suspect_host=host, fingerprint=fingerprint
    )


def test_the_likest_comes_first_with_why(west):
    fault = blaming(west, fault="xid-79")
    both = blaming(west, fault="xid-79", host="node-017")
    blaming(west, fault="cuda-oom", host="node-2")
    found = selectors.similar_incidents(blaming(west, fault="xid-79", host="node-017"))
    assert [like.incident.pk for like in found] == [both.pk, fault.pk]
    assert found[0].why == ["same host", "same fault"]


def test_a_host_of_that_name_in_another_cluster_is_another_host(west):
    blaming(ClusterFactory(), host="node-017")
    assert selectors.similar_incidents(blaming(west, host="node-017")) == []


def test_an_incident_without_suspect_is_like_none(west):
    blaming(west)
    assert selectors.similar_incidents(blaming(west)) == []


def test_what_was_merged_is_left_out(west):
    this = blaming(west, fault="xid-79")
    blaming(west, fault="xid-79")
    Incident.objects.exclude(pk=this.pk).update(merged_into=this)
    assert selectors.similar_incidents(this) == []


def test_it_tells_what_was_decided(west):
    other = blaming(west, fault="xid-79")
    item = RecommendationFactory(diagnosis=DiagnosisFactory(incident=other, done=True))
    decision = decide(actor=actor(), recommendation=item, kind=DecisionKind.ACCEPT)
    (found,) = selectors.similar_incidents(blaming(west, fault="xid-79"))
    assert list(found.decisions) == [decision]


def test_queries_do_not_grow_with_what_is_alike(west, django_assert_max_num_queries):
    for _ in range(30):
        blaming(west, fault="xid-79", host="node-017", fingerprint="ab")
    this = blaming(west, fault="xid-79", host="node-017", fingerprint="ab")
    with django_assert_max_num_queries(6):
        selectors.similar_incidents(this)
