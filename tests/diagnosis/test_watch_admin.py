"""Metric sources and metrics in the admin site: secrets stay out, what is edited stays."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from diagnosis.degradation.verdict import catalogue_version
from diagnosis.models import MetricDefinition, MetricSource, MetricVersion, SourceState
from diagnosis.services import metric_sources, metrics
from diagnosis.sources.errors import SourceError
from incidents.choices import Role
from incidents.models import Event
from tests.factories import UserFactory, actor

pytestmark = pytest.mark.django_db

SOURCE = {
    "name": "prometheus",
    "kind": "prometheus",
    "cluster": "",
    "url": "http://prometheus.invalid:9090",
    "username": "",
    "secret_name": "",
    "tenant": "",
    "verify_tls": "on",
    "ca_file": "",
    "host_labels": "{}",
    "aliases": "{}",
    "step_s": "15",
    "delay_s": "15",
    "enabled": "on",
}


@pytest.fixture
def operator(client):
    client.force_login(UserFactory(role=Role.OPERATOR))
    return client


def add(client, **more: str):
    return client.post(reverse("admin:diagnosis_metricsource_add"), {**SOURCE, **more})


def test_an_operator_adds_a_source_and_leaves_an_event(operator):
    assert add(operator).status_code == 302
    assert MetricSource.objects.get().url == SOURCE["url"]
    assert Event.objects.filter(verb="metricsource.added").exists()


def test_a_responder_may_not(client):
    client.force_login(UserFactory(role=Role.RESPONDER))

    assert add(client).status_code in {302, 403}
    assert not MetricSource.objects.exists()


def test_a_secret_is_named_and_never_shown(operator, settings):
    settings.METRIC_SECRETS = {"PROM": "s3cr3t-token"}
    add(operator, secret_name="PROM")
    source = MetricSource.objects.get()

    shown = operator.get(reverse("admin:diagnosis_metricsource_change", args=[source.pk]))
    listed = operator.get(reverse("admin:diagnosis_metricsource_changelist"))

    assert metric_sources.connection_of(source).bearer_token == "s3cr3t-token"
    assert b"s3cr3t-token" not in shown.content + listed.content
    assert "s3cr3t-token" not in repr(metric_sources.connection_of(source))


def test_a_secret_that_is_not_in_the_environment_is_refused(operator):
    assert b"no such secret" in add(operator, secret_name="NONE").content


def test_a_secret_that_went_missing_is_a_failure_that_does_not_pass(settings):
    settings.METRIC_SECRETS = {}
    source = MetricSource(name="prometheus", url="http://x.invalid", secret_name="GONE")

    with pytest.raises(SourceError, match="GONE") as raised:
        metric_sources.connection_of(source)
    assert raised.value.permanent


def test_mending_a_source_asks_it_again_at_once(operator):
    source = MetricSource.objects.create(
        name="prometheus",
        url="http://wrong.invalid",
        state=SourceState.FAILS,
        error="HTTP 401",
        permanent=True,
        retry_at=timezone.now() + timedelta(minutes=10),
    )
    operator.post(reverse("admin:diagnosis_metricsource_change", args=[source.pk]), SOURCE)

    source.refresh_from_db()
    assert (source.state, source.error, source.retry_at) == (SourceState.NOT_ASKED, "", None)


def test_a_metric_that_a_taxonomist_changes_is_marked(client):
    metrics.load_shipped(actor=actor(Role.ADMIN))
    client.force_login(UserFactory(role=Role.TAXONOMIST))
    row = MetricDefinition.objects.get(metric="gpu_power_w")
    form = {
        "metric": row.metric,
        "unit": row.unit,
        "entity": row.entity,
        "bad": row.bad,
        "kind": row.kind,
        "floor": "0.4",
        "scale": "",
        "implicates": row.implicates,
        "exporters": "[]",
        "query": '{"exporter": "gpu", "entity": "gpu", "series": "my_power"}',
        "enabled": "on",
        "why": "ours is named otherwise",
    }
    client.post(reverse("admin:diagnosis_metricdefinition_change", args=[row.pk]), form)

    row.refresh_from_db()
    assert (row.floor, row.edited) == (0.4, True)
    asked = {query.metric: query for query in metrics.current().queries}
    assert asked["gpu_power_w"].series[0].name == "my_power"
    version = MetricVersion.objects.first()
    assert version is not None
    assert version.why == "ours is named otherwise"
    assert version.version == catalogue_version(metrics.current().catalogue)
