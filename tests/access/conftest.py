"""The two clusters are made once: every call on them is undone."""

from collections.abc import Iterator, Mapping

import pytest
from django.db import transaction
from django.test import override_settings

from tests.access.world import Names, everything_in, shared


@pytest.fixture(scope="package")
def clusters(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[Mapping[str, Names]]:
    """The names of all records, by cluster."""
    folder = tmp_path_factory.mktemp("evidence")
    with django_db_blocker.unblock(), transaction.atomic():
        with override_settings(EVIDENCE_DIR=folder):
            common = {**shared(), "folder": folder}
            made = {name: {**common, **everything_in(name)} for name in ("own", "other")}
        yield made
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def _where_the_evidence_is(settings, clusters: Mapping[str, Names]) -> None:
    settings.EVIDENCE_DIR = clusters["own"]["folder"]


@pytest.fixture
def own(clusters: Mapping[str, Names]) -> Names:
    return clusters["own"]


@pytest.fixture
def other(clusters: Mapping[str, Names]) -> Names:
    return clusters["other"]
