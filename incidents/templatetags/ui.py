"""Small pieces of markup that every page uses."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache

from django import template
from django.contrib.auth.models import AnonymousUser
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from incidents.choices import Source
from incidents.glossary import TERMS
from incidents.markdown import safe_html
from incidents.models import RankPlacement, User
from incidents.roles import Actor, Capability

register = template.Library()

_WRITTEN = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)? UTC")


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """A picture from the sprite; decoration only, so it needs words beside it."""
    return format_html(
        '<svg class="icon {}" aria-hidden="true"><use href="{}#{}"></use></svg>',
        extra,
        _sprite(),
        name,
    )


@cache
def _sprite() -> str:
    """The address of the sprite: a page has hundreds of icons."""
    return static("img/icons.svg")


@register.simple_tag
def moment(at: datetime | None, show: str = "clock") -> SafeString | str:
    """A time in UTC, which the browser shows in the viewer's zone; `show` is age, clock, full
    or zoned, which names the zone for those who read it on paper.
    """
    if at is None:
        return "–"
    return format_html(
        '<time datetime="{}" data-show="{}">{}</time>',
        at.isoformat(),
        show,
        f"{at:%Y-%m-%d %H:%M:%S} UTC",
    )


@register.simple_tag
def term(code: str, place: str = "") -> SafeString:
    """A button that tells what a word means; `place` keeps two of one page apart."""
    known = TERMS[code]
    return format_html(
        '<button class="term" type="button" popovertarget="{id}" aria-label="What is: {name}?">?'
        '</button><span class="term-text" popover id="{id}" role="note"><strong>{name}</strong> '
        "{meaning}</span>",
        id=f"term-{code}{place}",
        name=known.name,
        meaning=known.meaning,
    )


@register.filter
def may(user: User | AnonymousUser, capability: str) -> bool:
    """Whether someone may do this: `{% if user|may:"respond" %}`."""
    if not isinstance(user, User):
        return False
    return Actor.of_user(user, source=Source.BROWSER).may(Capability(capability))


@register.filter
def minutes(span: timedelta) -> int:
    """A span in whole minutes."""
    return round(span.total_seconds() / 60)


@register.filter
def lasting(seconds: float | None) -> str:
    """A span of seconds in the unit that fits: `40 s`, `14 min`, `3.2 h`, `5.0 d`."""
    if seconds is None:
        return "–"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} d"


@register.filter
def percent(share: float | None) -> str:
    """A share in percent, with a digit where it is small."""
    if share is None:
        return "–"
    return f"{share * 100:.{1 if 0 < share < 0.1 else 0}f} %"


@register.filter
def signed(change: float) -> str:
    """By how much more or less than in the time before."""
    if abs(change) < 0.005:
        return "as before"
    return f"{'+' if change > 0 else '−'}{abs(change) * 100:.0f} % against before"


@register.filter
def score(value: float | None) -> str:
    """A probability as people read it: in percent, never a false 100 or 0."""
    if value is None:
        return ""
    if 0 < value < 0.01:
        return "< 1 %"
    return f"{min(value, 0.99) if value < 1 else 1:.0%}".replace("%", " %")


@register.filter
def timed(text: str) -> SafeString:
    """A text in which times that name UTC are shown in the viewer's zone."""
    parts: list[str] = []
    end = 0
    for found in _WRITTEN.finditer(text):
        try:
            at = datetime.fromisoformat(f"{found[1]}+00:00")
        except ValueError:
            continue  # digits that are no time
        parts += [text[end : found.start()], moment(at)]
        end = found.end()
    return format_html_join("", "{}", ([part] for part in [*parts, text[end:]]))


@register.filter
def markdown(text: str) -> SafeString:
    """A note as its author meant it, made safe."""
    return mark_safe(safe_html(text))  # noqa: S308 (sanitised there)


@register.filter
def amount(value: float) -> str:
    """A count with its thousands apart; GPU-hours and the like with a digit below ten."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


@register.filter
def ranks(places: Iterable[RankPlacement]) -> str:
    """The places' ranks, in order, with what follows each other as one: `0–7, 12`."""
    spans: list[list[int]] = []
    for place in places:
        if spans and place.rank == spans[-1][1] + 1:
            spans[-1][1] = place.rank
        else:
            spans.append([place.rank, place.rank])
    return ", ".join(f"{first}" if first == last else f"{first}–{last}" for first, last in spans)
