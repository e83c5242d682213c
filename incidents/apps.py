"""The records: incidents, evidence, decisions, and everybody's way to them."""

from django.apps import AppConfig


class IncidentsConfig(AppConfig):
    name = "incidents"
    verbose_name = "Incidents"

    def ready(self) -> None:
        """Registers the system checks."""
        from incidents import checks  # noqa: F401, PLC0415 - Django registers checks at start-up
