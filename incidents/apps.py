"""The records: incidents, evidence, decisions, and everybody's way to them."""

from django.apps import AppConfig


class IncidentsConfig(AppConfig):
    name = "incidents"
    verbose_name = "Incidents"

    def ready(self) -> None:
        """Registers the system checks, and listens for work that the records ask for."""
        from incidents import checks, receivers  # noqa: F401, PLC0415 - Django does so at start-up
