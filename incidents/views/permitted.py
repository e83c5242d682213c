"""Pages that are nothing but a form: who may not send it is told so before filling it in."""

from collections.abc import Callable
from functools import wraps

from django.core.exceptions import PermissionDenied
from django.http import HttpResponseBase

from incidents.exceptions import NotAllowed
from incidents.roles import Capability
from incidents.views.requests import PageRequest, actor_of

View = Callable[..., HttpResponseBase]


def needs(capability: Capability) -> Callable[[View], View]:
    """A view for those alone who may do this; others get a 403 that says what it takes."""

    def guarding(view: View) -> View:
        @wraps(view)
        def guarded(request: PageRequest, *args: object, **kwargs: object) -> HttpResponseBase:
            try:
                actor_of(request).require(capability)
            except NotAllowed as error:
                raise PermissionDenied(str(error)) from error
            return view(request, *args, **kwargs)

        return guarded

    return guarding
