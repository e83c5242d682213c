"""Every change of the metric definitions leaves a version."""

import pytest

from diagnosis.degradation.verdict import catalogue_version
from diagnosis.models import MetricDefinition, MetricVersion
from diagnosis.services import metrics
from diagnosis.services.metric_versions import record_version
from incidents.choices import Role
from incidents.exceptions import InvalidInput, NotAllowed
from tests.factories import actor

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def loaded():
    metrics.load_shipped(actor=actor(Role.TAXONOMIST))


def noted(role: Role, why: str) -> MetricVersion | None:
    catalogue = metrics.current().catalogue
    return record_version(actor=actor(role), why=why, catalogue=catalogue)


def test_loading_the_shipped_definitions_is_a_version():
    version = MetricVersion.objects.get()

    assert version.version == catalogue_version(metrics.current().catalogue)
    assert len(version.rows) == MetricDefinition.objects.count()


def test_a_change_is_a_version_that_names_the_metric_and_the_reason():
    MetricDefinition.objects.filter(metric="gpu_temp_c").update(floor=0.2)

    version = noted(Role.TAXONOMIST, "our hall is warm")

    assert version is not None
    assert (version.changed, version.why) == (["gpu_temp_c"], "our hall is warm")
    assert version.version != MetricVersion.objects.earliest("pk").version


def test_nothing_changed_is_no_version():
    assert noted(Role.TAXONOMIST, "a look") is None


def test_a_change_without_a_reason_is_refused():
    with pytest.raises(InvalidInput):
        noted(Role.TAXONOMIST, "  ")


def test_who_may_only_look_changes_nothing():
    with pytest.raises(NotAllowed):
        noted(Role.VIEWER, "mine")
