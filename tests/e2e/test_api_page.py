"""The page to try the API, in a real browser under the real Content-Security-Policy."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect, sync_playwright

from incidents.choices import Role
from incidents.models import User
from tests.services import needed

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(300),
    pytest.mark.django_db(transaction=True),
]
_QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PASSWORD = "a long e2e password"


@pytest.fixture
def complaints() -> list[str]:
    """What the browser writes to its console."""
    return []


@pytest.fixture(scope="session", autouse=True)
def collected() -> None:
    """The folder of static files, which the server wants before it starts."""
    call_command("collectstatic", interactive=False, verbosity=0)


@pytest.fixture
def page(
    live_server: Any, complaints: list[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Page]:
    """A signed-in operator on the page, which has asked nobody but this machine."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    User.objects.create_user("olga", password=PASSWORD, role=Role.OPERATOR)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=needed("chromium", "chromium"), args=_QUIET
        )
        opened = browser.new_page(base_url=live_server.url)
        opened.route(lambda url: not url.startswith(live_server.url), lambda route: route.abort())
        opened.on("console", lambda message: complaints.append(message.text))
        opened.goto("/login?next=/api/v1/docs")
        opened.locator("input[name=username]").fill("olga")
        opened.locator("input[name=password]").fill(PASSWORD)
        opened.locator("input[name=password]").press("Enter")
        yield opened
        browser.close()


def try_out(page: Page, tag: str, operation: str) -> Any:
    """Opens an operation, sends it as it is suggested, and gives the answer's status."""
    page.locator(f"#operations-tag-{tag}").click()
    block = page.locator(f"#operations-{tag}-{operation}")
    block.locator(".opblock-summary-control").click()
    block.get_by_role("button", name="Try it out").click()
    block.get_by_role("button", name="Execute").click()
    return block.locator(".live-responses-table .response-col_status").last


def test_a_signed_in_person_tries_the_api_on_the_page(page: Page, complaints: list[str]):
    expect(try_out(page, "me", "me_retrieve")).to_contain_text("200")
    expect(try_out(page, "tokens", "tokens_create")).to_contain_text("201")
    assert not [text for text in complaints if "Content Security Policy" in text]
