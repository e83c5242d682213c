"""Notes as people write them (CommonMark, tables, bare links), as HTML that is safe to show."""

from functools import cache

import nh3
from markdown_it import MarkdownIt

#: No pictures: a page asks no other host. No `class` or `style`: a note looks like a note.
_TAGS = (
    "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p",
    "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
)  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_SCHEMES = {"http", "https", "mailto"}


@cache
def _renderer() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "linkify": True, "breaks": True})
    return made.enable(["table", "strikethrough", "linkify"])


def safe_html(text: str) -> str:
    """The note as HTML; what is not in a short list of tags is dropped, its words are kept."""
    return nh3.clean(
        _renderer().render(text),
        tags=set(_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
