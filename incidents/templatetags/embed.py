"""Parts of a page that another app gives, within the page's first answer."""

from django import template
from django.http import Http404
from django.template import RequestContext
from django.urls import NoReverseMatch, get_script_prefix, resolve, reverse
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.simple_tag(takes_context=True)
def embed(context: RequestContext, name: str, pk: int) -> SafeString:
    """What the view of this name answers to whoever asks for the page; empty for no such view.

    In place from the start, so that nothing below it moves; the part may ask for itself later.
    """
    request = context.request
    try:
        path = "/" + reverse(name, args=[pk]).removeprefix(get_script_prefix())
        view, args, kwargs = resolve(path, getattr(request, "urlconf", None))
        response = view(request, *args, **kwargs)
    except (NoReverseMatch, Http404):
        return SafeString()
    if response.status_code != 200:
        return SafeString()
    return mark_safe(str(response.content, response.charset))  # noqa: S308 - a view's own markup
