"""Running instances, one of each set-up for the whole run, and a real browser."""

import logging
import os
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.e2e.instances import Instance, embedded, server
from tests.services import needed

logging.getLogger("httpx").setLevel(logging.WARNING)
expect.set_options(timeout=30_000)  # ms: pages and their servers share the machine with other runs

BROWSER_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/e2e/" in str(item.path):
            item.add_marker(pytest.mark.e2e)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(300))


@pytest.fixture(scope="session")
def embedded_instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """`make run` without the demo."""
    with embedded(tmp_path_factory.mktemp("embedded"), "--no-demo") as instance:
        yield instance


@pytest.fixture(scope="session")
def server_instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """PostgreSQL, Redis, gunicorn and a Celery worker."""
    with server(tmp_path_factory.mktemp("server")) as instance:
        instance.start_worker()
        yield instance


@pytest.fixture(params=["embedded_instance", "server_instance"])
def instance(request: pytest.FixtureRequest) -> Instance:
    """Each set-up in turn."""
    found: Instance = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def api(instance: Instance) -> Iterator[httpx.Client]:
    with instance.api() as client:
        yield client


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, driven by Playwright."""
    path = needed("chromium", "chromium")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=BROWSER_OPTIONS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser, embedded_instance: Instance) -> Iterator[Page]:
    """A signed-in page on the embedded instance."""
    context = browser.new_context(base_url=embedded_instance.address)
    opened = context.new_page()
    opened.goto("login")
    opened.get_by_label("Name").fill(embedded_instance.username)
    opened.get_by_label("Password").fill(embedded_instance.password)
    opened.get_by_role("button", name="Log in").click()
    opened.wait_for_url("**/")
    yield opened
    context.close()
