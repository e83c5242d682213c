"""The pages of a running instance, found by following its links: some of each kind."""

from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlsplit

from django.urls import Resolver404, resolve
from playwright.sync_api import Page

#: Pages of one kind that are given; incidents have more faces than the rest.
EACH = 1
EACH_INCIDENT = 4
#: What is no page of ours to look at: files, the admin's own pages, what ends the session.
_LEFT_OUT = ("/admin/", "/api/", "/static/", "/logout", "/evidence/", "/oidc/")


def addresses(page: Page, start: str = "/") -> Iterator[str]:
    """Paths of pages, each open in `page` while it is given; whoever asks may look at it."""
    waiting, seen, given = [start], {start}, Counter[str]()
    while waiting:
        path = waiting.pop(0)
        name = _kind(path)
        if not name or given[name] >= (EACH_INCIDENT if name == "incidents:incident" else EACH):
            continue
        answer = page.goto(path, wait_until="networkidle")
        if answer is None or "text/html" not in answer.headers.get("content-type", ""):
            continue
        given[name] += 1
        found = page.eval_on_selector_all("a[href]", "links => links.map(one => one.href)")
        yield path
        for link in found:
            parts = urlsplit(link)
            if parts.netloc == urlsplit(page.url).netloc and parts.path not in seen:
                seen.add(parts.path)
                waiting.append(parts.path)


def _kind(path: str) -> str:
    if path.startswith(_LEFT_OUT) or path.endswith((".csv", ".md", ".json", ".yaml")):
        return ""
    try:
        return resolve(path).view_name
    except Resolver404:
        return ""
