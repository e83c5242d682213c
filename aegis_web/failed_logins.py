"""Log-ins that failed, on the timeline. A name that nobody has may be a mistyped password: it is
not repeated there.
"""

from collections.abc import Mapping
from typing import Any

from axes.helpers import get_client_ip_address
from django.contrib.auth.signals import user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from incidents.services.people import login_failed


@receiver(user_login_failed, dispatch_uid="aegis_web.note_failed_login")
def note_failed_login(
    sender: object,
    credentials: Mapping[str, Any],
    request: HttpRequest | None = None,
    **kwargs: object,
) -> None:
    """One event for each: who was tried, and from where. Single sign-on tells of its own."""
    if "username" not in credentials:
        return
    address = get_client_ip_address(request) if request is not None else ""
    login_failed(name=str(credentials.get("username") or ""), address=str(address or ""))
