"""People with sessions of their own on a running instance, and incidents made there."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from playwright.sync_api import Browser, Page

from tests.e2e.instances import Instance

PASSWORD = "a long e2e password"


def add_person(instance: Instance, name: str, role: str = "responder") -> None:
    """An account, where it is not there yet."""
    code = (
        "from incidents.models import User; "
        f"u, _ = User.objects.get_or_create(username={name!r}, defaults=dict(role={role!r})); "
        f"u.set_password({PASSWORD!r}); u.save()"
    )
    instance.manage("shell", "-v", "0", "-c", code)


def log_in(page: Page, name: str, password: str) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


@contextmanager
def session(browser: Browser, instance: Instance, name: str) -> Iterator[Page]:
    """A page of someone who is signed in, in a browser profile of their own."""
    context = browser.new_context(base_url=instance.address)
    page = context.new_page()
    page.goto("login")
    log_in(page, name, PASSWORD)
    page.wait_for_url("**/")
    yield page
    context.close()


def opened(api: httpx.Client, *titles: str, **given: str) -> list[int]:
    """The ids of new incidents."""
    answers = [api.post("incidents", json={"title": title, **given}) for title in titles]
    assert {answer.status_code for answer in answers} == {httpx.codes.CREATED}
    return [answer.json()["id"] for answer in answers]


def seen(api: httpx.Client, pk: int) -> dict[str, object]:
    """An incident as it stands."""
    found: dict[str, object] = json.loads(api.get(f"incidents/{pk}").text)
    return found
