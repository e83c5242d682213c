"""System checks of the records (`manage.py check`)."""

import os
from collections.abc import Sequence
from pathlib import Path

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def evidence_store_is_writable(
    app_configs: Sequence[AppConfig] | None, **options: object
) -> list[CheckMessage]:
    """The evidence store, or the nearest folder above it that exists, must take new files."""
    place = Path(settings.EVIDENCE_DIR)
    while not place.exists() and place != place.parent:
        place = place.parent
    if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
        return []
    return [
        Error(
            f"Evidence cannot be stored: {place} is not a folder that this process may write to.",
            hint="Give the process write access, or set AEGIS_DATA_DIR to another folder.",
            id="incidents.E001",
        )
    ]
