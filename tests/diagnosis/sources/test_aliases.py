"""Hosts whose exporters know them by address alone."""

import pytest

from diagnosis.sources.aliases import aliases_of
from diagnosis.sources.gather import GatherSettings, gather
from diagnosis.sources.grid import TimeGrid
from diagnosis.sources.labels import LabelMap
from diagnosis.sources.prometheus import Prometheus
from diagnosis.sources.queries import shipped_queries
from diagnosis.sources.retry import Budget
from tests.diagnosis.sources.fleet import MINUTE, START

CLOUD = ("cloud-1", "cloud-2")


def test_the_address_of_a_scrape_leads_to_the_host(fleet: Prometheus, budget: Budget) -> None:
    found = aliases_of(fleet, CLOUD, START + 60 * MINUTE, budget)
    assert found == {"10.0.0.11": "cloud-1", "10.0.0.12": "cloud-2"}


def test_an_address_that_two_hosts_share_leads_to_neither(
    fleet: Prometheus, budget: Budget
) -> None:
    assert aliases_of(fleet, ("twin-1", "twin-2"), START + 60 * MINUTE, budget) == {}


def test_hosts_are_found_by_what_was_learnt(fleet: Prometheus, budget: Budget) -> None:
    learnt = aliases_of(fleet, CLOUD, START + 60 * MINUTE, budget)
    query = next(query for query in shipped_queries() if query.metric == "ctx_switch_k")
    grid = TimeGrid.covering(START + 5 * MINUTE, START + 60 * MINUTE, MINUTE)
    settings = GatherSettings(labels=LabelMap(aliases=learnt))
    window = gather(fleet, [query], CLOUD, grid, settings).window
    assert window.hosts == ("cloud-1",)
    assert window.values[0, 0] == pytest.approx(4.0)
