"""Times that the diagnosis keeps in seconds, shown as every other time."""

from datetime import UTC, datetime

from django import template
from django.utils.safestring import SafeString

from incidents.templatetags.ui import moment

register = template.Library()


@register.simple_tag
def instant(seconds: float | None) -> SafeString | str:
    """Seconds since 1970 as a time in the viewer's zone."""
    return moment(None if seconds is None else datetime.fromtimestamp(seconds, UTC))
