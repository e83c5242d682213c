"""One real Prometheus for all tests here, with a small fleet's troubles backfilled."""

from collections.abc import Iterator

import pytest

from diagnosis.sources.connection import Connection
from diagnosis.sources.prometheus import Prometheus
from diagnosis.sources.retry import Budget, RetryPolicy
from tests.diagnosis.sources.fleet import backfilled_fleet
from tests.prometheus_server import prometheus

QUICK = RetryPolicy(sleep=lambda _: None)


@pytest.fixture(scope="session")
def fleet_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with prometheus(tmp_path_factory.mktemp("prometheus"), backfilled_fleet()) as url:
        yield url


@pytest.fixture
def fleet(fleet_url: str) -> Iterator[Prometheus]:
    with Prometheus(Connection(fleet_url), QUICK) as source:
        yield source


@pytest.fixture
def budget() -> Budget:
    return Budget(30.0)
