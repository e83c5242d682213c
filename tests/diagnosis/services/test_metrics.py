"""The metric catalogue in the database."""

import pytest
from django.core.exceptions import ValidationError

from diagnosis.degradation.catalogue import Catalogue
from diagnosis.models import MetricDefinition
from diagnosis.services import metrics
from diagnosis.sources.queries import shipped_queries
from incidents.choices import Role
from tests.factories import actor

pytestmark = pytest.mark.django_db


@pytest.fixture
def loaded() -> metrics.Loaded:
    return metrics.load_shipped(actor=actor(Role.TAXONOMIST))


def test_the_shipped_rows_judge_and_ask_as_the_files_do(loaded: metrics.Loaded):
    current = metrics.current()
    shipped = {query.metric: query for query in shipped_queries()}

    assert loaded.added == len(Catalogue.default().metrics)
    assert {item.id: item for item in current.catalogue.metrics} == {
        item.id: item for item in Catalogue.default().metrics
    }
    assert all(shipped[query.metric] == query for query in current.queries)
    assert len(current.queries) > 60


def test_without_rows_the_shipped_ones_are_used():
    assert {query.metric for query in metrics.current().queries} >= {"ecn_cnp_s", "iteration_s"}


def test_loading_again_changes_nothing(loaded: metrics.Loaded):
    again = metrics.load_shipped(actor=actor(Role.TAXONOMIST))

    assert (again.added, again.updated) == (0, 0)


def test_what_people_edited_is_kept(loaded: metrics.Loaded):
    MetricDefinition.objects.filter(metric="gpu_util").update(floor=0.5, edited=True)

    again = metrics.load_shipped(actor=actor(Role.TAXONOMIST))

    assert again.kept == 1
    assert metrics.current().catalogue.definition("gpu_util").floor == 0.5


def test_a_metric_that_is_switched_off_is_not_asked(loaded: metrics.Loaded):
    MetricDefinition.objects.filter(metric="gpu_util").update(enabled=False)

    assert "gpu_util" not in {query.metric for query in metrics.current().queries}


def test_a_query_that_cannot_be_asked_is_refused_before_it_is_saved(loaded: metrics.Loaded):
    row = MetricDefinition.objects.get(metric="gpu_util")
    row.query = {"exporter": "gpu", "entity": "gpu", "promql": "up"}

    with pytest.raises(ValidationError, match="hosts"):
        row.full_clean()
