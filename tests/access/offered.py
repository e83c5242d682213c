"""What a page offers: its forms, with what they ask for by themselves, and its links."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

#: What sends or asks by itself, without a form or link: attribute → method.
_BY_ATTRIBUTE = {"hx-post": "POST", "hx-get": "GET"}


@dataclass
class _Offers(HTMLParser):
    page: str
    found: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._add(given.get("method", "get"), given.get("action", ""))
        if tag == "a" and "href" in given:
            self._add("get", given["href"])
        if "formaction" in given:
            self._add("post", given["formaction"])
        for name, method in _BY_ATTRIBUTE.items():
            if name in given:
                self._add(method, given[name])

    def _add(self, method: str, address: str) -> None:
        path = address.partition("#")[0].partition("?")[0] or self.page
        self.found.add((method.upper(), path))


def offered(page: str, html: str) -> set[tuple[str, str]]:
    """Method and path of everything that one can press on the page at this path."""
    offers = _Offers(page)
    offers.feed(html)
    return offers.found
