"""What every view here knows of a request: someone is signed in."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from incidents.choices import Source
from incidents.models import User
from incidents.roles import Actor


class PageRequest(HttpRequest):
    """A request as the middleware leaves it: with a person, and with htmx's headers read."""

    user: User
    htmx: HtmxDetails


def actor_of(request: PageRequest) -> Actor:
    """The person as someone who does something through the browser."""
    return Actor.of_user(request.user, source=Source.BROWSER)
