"""Every page of the demo that links lead to, looked at by rule. Long: they are dozens."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.crawl import addresses
from tests.e2e.instances import Instance, embedded
from tests.e2e.test_browser import violations

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    with embedded(tmp_path_factory.mktemp("demo")) as instance:
        yield instance


@pytest.fixture
def visitor(browser: Browser, demo: Instance) -> Iterator[Page]:
    context = browser.new_context(base_url=demo.address)
    page = context.new_page()
    page.goto("login")
    page.get_by_label("Name").fill(demo.username)
    page.get_by_label("Password").fill(demo.password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/")
    yield page
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_of_the_demo_has_an_accessibility_violation(visitor: Page, scheme: str) -> None:
    visitor.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    found = {path: violations(visitor) for path in addresses(visitor)}

    assert len(found) > 20
    assert {path: broken for path, broken in found.items() if broken} == {}


def test_no_page_of_the_demo_is_wider_than_a_small_phone(visitor: Page) -> None:
    visitor.set_viewport_size({"width": 360, "height": 780})
    measure = "document.documentElement.scrollWidth"
    widths = {path: visitor.evaluate(measure) for path in addresses(visitor)}

    assert {path: width for path, width in widths.items() if width > 360} == {}


def test_no_page_of_the_demo_asks_another_host(visitor: Page, demo: Instance) -> None:
    asked: list[str] = []
    visitor.on("request", lambda request: asked.append(request.url))
    list(addresses(visitor))

    assert [one for one in asked if not one.startswith((demo.address, "data:", "blob:"))] == []
