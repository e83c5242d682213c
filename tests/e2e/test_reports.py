"""Reports, clusters and help in a real browser: seen by all, light, still."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.instances import Instance
from tests.e2e.test_browser import SCHEMES, violations

#: What a page with four pictures may send of data.
DATA_BYTES = 200_000
PAGES = ("", "jobs", "hosts", "clusters", "reports", "glossary", "incidents/new")
#: Puts what the browser measured where the test can read it.
MEASURE = """
window.shifts = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_page_has_an_accessibility_violation(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    found = {}
    for path in PAGES:
        page.goto(path, wait_until="networkidle")
        found[path] = violations(page)

    assert {path: broken for path, broken in found.items() if broken} == {}


def test_no_page_is_wider_than_a_small_phone(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 780})
    widths = {}
    for path in PAGES:
        page.goto(path, wait_until="networkidle")
        widths[path] = page.evaluate("document.documentElement.scrollWidth")

    assert {path: width for path, width in widths.items() if width > 360} == {}


def test_the_reports_ask_no_other_host_and_send_little(
    page: Page, embedded_instance: Instance
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    answer = page.goto("reports", wait_until="networkidle")

    assert answer is not None
    assert len(answer.body()) < DATA_BYTES
    assert [u for u in asked if not u.startswith((embedded_instance.address, "data:"))] == []


def test_the_reports_draw_their_pictures_without_moving_anything(page: Page) -> None:
    page.add_init_script(MEASURE)
    page.goto("reports", wait_until="networkidle")
    expect(page.locator(".js-plotly-plot svg.main-svg").first).to_be_visible()

    assert page.evaluate("window.shifts") < 0.01


def test_a_word_is_explained_by_keyboard(page: Page) -> None:
    page.goto("reports")
    button = page.get_by_role("button", name="What is: Restarts?")

    button.focus()
    page.keyboard.press("Enter")

    meaning = page.get_by_text("Attempts that began after the first one of their job.")
    expect(meaning).to_be_visible()
    page.keyboard.press("Escape")
    expect(meaning).to_be_hidden()
